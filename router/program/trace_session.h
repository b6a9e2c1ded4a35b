// SPDX-License-Identifier: BSD-3-Clause
// Serves `trace`: the next packets that match a filter, each with the stages that it passed.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "router/program/probe_session.h"
#include "router/program/trace_json.h"

namespace turnpike::router {

class TraceSession final : public ClientSession {
 public:
  /// For {"request":"trace","packets":N,"filter":F,"link":L}.
  static tl::expected<std::unique_ptr<ProbeSession>, Failure> make(
      const std::shared_ptr<Call>& call, const ProbedRouter& on);

  void add_to(Probe::Parts& parts, unsigned worker) override {
    parts.trace = traces_[worker].get();
  }
  void drain(Nanos now) override;

 private:
  TraceSession(std::shared_ptr<Call> call, const ProbedRouter& on)
      : ClientSession(std::move(call)), on_(on) {}
  /// Sends a packet; whether it was the last.
  bool show(const Traced& traced);

  const ProbedRouter& on_;
  PacketFilter filter_;
  uint32_t wanted_ = 0, sent_ = 0;
  std::vector<std::unique_ptr<Trace>> traces_;  // by worker
  std::map<uint32_t, Traced> waiting_;          // queued, not seen leaving yet; by id
  std::map<uint32_t, TraceRecord> early_;       // departures before their packets' records
};

}  // namespace turnpike::router
