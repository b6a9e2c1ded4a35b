// SPDX-License-Identifier: BSD-3-Clause
// Generates a workload's flows: start times, sources, destinations and sizes.
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

/// One flow of a workload.
struct Arrival {
  Nanos at{0};
  uint32_t from = 0, to = 0;  // indices into Topology::hosts
  uint64_t bytes = 0;         // payload
};

/// Every process and lcore that runs hosts of the workload draws the same whole sequence and uses
/// the flows of its own hosts, so that traffic does not depend on the assignment of hosts.
class Stream {
 public:
  /// `index`: the workload's position in the file; it and the seed determine all draws. `trace`:
  /// its trace if already read. The error says why a trace cannot be read.
  static tl::expected<Stream, std::string> make(const config::Workload& workload, uint64_t seed,
                                                uint32_t index, Traces::Shared trace = nullptr);

  /// The next flow; times never decrease. Nothing after the workload's stop or its trace's end.
  std::optional<Arrival> next();

 private:
  Stream(config::Workload workload, uint64_t seed, uint32_t index);

  [[nodiscard]] std::optional<Nanos> next_time();
  [[nodiscard]] uint64_t next_size();
  /// Time at which the "on" parts have lasted for `running` in all; nothing if beyond any run.
  [[nodiscard]] std::optional<Nanos> after_pauses(Nanos running) const;

  config::Workload workload_;
  Traces::Shared trace_;
  Random times_, sizes_, pairs_;  // separate, so that a change of sizes keeps arrival times
  double elapsed_ = 0;            // s of "on" parts since the start
  uint64_t count_ = 0;
  double least_ = 0;  // B, smallest size of a Pareto distribution
};

}  // namespace turnpike::sender
