// SPDX-License-Identifier: BSD-3-Clause
// Serves `capture`: the first bytes of packets, with their links, times and drop reasons.
#pragma once

#include <memory>
#include <vector>

#include "router/program/probe_session.h"

namespace turnpike::router {

class CaptureSession final : public ClientSession {
 public:
  /// For {"request":"capture",...}, with a value for each option of `turnpike capture`. The first
  /// part of the answer has the links.
  static tl::expected<std::unique_ptr<ProbeSession>, Failure> make(
      const std::shared_ptr<Call>& call, const ProbedRouter& on);

  void add_to(Probe::Parts& parts, unsigned worker) override {
    parts.mirror = mirrors_[worker].get();
  }
  void drain(Nanos now) override;

 private:
  CaptureSession(std::shared_ptr<Call> call, const ProbedRouter& on)
      : ClientSession(std::move(call)), on_(on) {}
  [[nodiscard]] Json links() const;
  [[nodiscard]] Json counts() const;

  const ProbedRouter& on_;
  PacketFilter filter_;
  uint64_t wanted_ = 0, sent_ = 0;                // wanted_ 0: no end
  std::vector<std::unique_ptr<Mirror>> mirrors_;  // by worker
};

}  // namespace turnpike::router
