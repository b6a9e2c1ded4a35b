// SPDX-License-Identifier: BSD-3-Clause
// One workload as an endless sequence of flows: when, from whom, to whom, how large.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "sender/workload/random.h"
#include "sender/workload/trace.h"

namespace turnpike::sender {

/// One flow that a workload asks for.
struct Arrival {
  Nanos at{0};
  uint32_t from = 0, to = 0;  // hosts
  uint64_t bytes = 0;         // payload
};

/// Every process and lcore that plays a part of the workload draws the same whole sequence and
/// keeps its own hosts' share, so the traffic does not depend on who plays whom.
class Stream {
 public:
  /// `index`: the workload's position in the file, which with the seed fixes every draw. `trace`:
  /// its trace where that has been read already. Fails where it cannot be read.
  static tl::expected<Stream, std::string> make(const config::Workload& workload, uint64_t seed,
                                                uint32_t index, Traces::Shared trace = nullptr);

  /// The next flow, times never going back; nothing once the workload has stopped or its trace
  /// has come to its end.
  std::optional<Arrival> next();

 private:
  Stream(config::Workload workload, uint64_t seed, uint32_t index);

  [[nodiscard]] std::optional<Nanos> next_time();
  [[nodiscard]] uint64_t next_size();
  /// When what comes after so long in the "on" parts does; nothing where no run can last so long.
  [[nodiscard]] std::optional<Nanos> after_pauses(Nanos running) const;

  config::Workload workload_;
  Traces::Shared trace_;
  Random times_, sizes_, pairs_;  // apart, so that other sizes do not move the arrivals
  double elapsed_ = 0;            // s in the "on" parts since the start
  uint64_t count_ = 0;
  double least_ = 0;  // B, of a Pareto distribution
};

}  // namespace turnpike::sender
