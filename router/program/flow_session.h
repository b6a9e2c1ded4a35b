// SPDX-License-Identifier: BSD-3-Clause
// Serves `flows`: the largest flows of each link, from a sample of the packets that it sends.
#pragma once

#include <memory>
#include <vector>

#include "router/program/probe_session.h"
#include "router/telemetry/flow_table.h"

namespace turnpike::router {

/// Begins with the first request for flows and ends when none has come for the time that the last
/// one gave. Counts in windows of a second. A worker copies the headers of its sample into a ring,
/// within a share of its time; all counting is the control thread's.
class FlowSession final : public ProbeSession {
 public:
  static constexpr uint32_t kSample = 16;  // one of as many packets is looked at
  static constexpr double kShare = 0.02;   // of a worker's time, at most; see Mirror
  static constexpr size_t kFlows = 512;    // counted on a link
  static constexpr Nanos kWindow = 1_s;

  explicit FlowSession(const ProbedRouter& on);

  void add_to(Probe::Parts& parts, unsigned worker) override {
    parts.flows = mirrors_[worker].get();
  }
  void drain(Nanos now) override;
  [[nodiscard]] bool open() const override { return now_ < due_; }
  void end() override {}

  /// For {"request":"flows","link":L,"limit":N,"for_s":S}: the flows of the last whole window,
  /// those that spend most first, then by rate. Without one yet, "flows" is null.
  tl::expected<Json, Failure> answer(const Json& request, Nanos now);

 private:
  struct LinkFlows {
    FlowTable now{kFlows}, last{kFlows};
    double scale = 1;                  // of `last`: packets of the sample by those copied
    uint64_t copied = 0, missing = 0;  // counts of the mirrors at the window's begin
    double price = 0;                  // $/B of the link, at present
  };
  void read_prices();
  void count(const MirrorRecord& record);
  void turn(Nanos now);
  [[nodiscard]] Json row(size_t link, const FlowCount& flow) const;

  const ProbedRouter& on_;
  std::vector<std::unique_ptr<Mirror>> mirrors_;  // by worker
  std::vector<LinkFlows> links_;
  Nanos now_{0}, due_{0};  // last call; when the session ends
  Nanos begin_{0};         // of the window
  Nanos length_{0};        // of the last one; 0: there is none yet
};

}  // namespace turnpike::router
