// SPDX-License-Identifier: BSD-3-Clause
// Estimates the memory of a run of the lab, and compares it with the machine's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/config/topology.h"
#include "sender/workload/trace.h"

namespace turnpike::lab {

struct MemoryPart {
  std::string what;
  size_t bytes = 0;
  std::string remedy;  // changes of the file that reduce it
};

/// The parts of a run's memory, the largest first.
struct MemoryNeed {
  std::vector<MemoryPart> parts;
  [[nodiscard]] size_t total() const;
};

/// Memory at the peak of the run: buffers for all packets that links can hold, and tables and
/// results as far as the traffic fills them. Worlds of 11,000 nodes took 0.6 to 0.8 of the sum
/// (configs/scale/as-like.yaml, with 5,000 and 100,000 flows).
MemoryNeed memory_of(const config::Topology& topology, const sender::Traces& traces);

/// One line: the sum and its larger parts, and the machine's memory, `available` B, where known.
std::string memory_text(const MemoryNeed& need, std::optional<size_t> available);

/// The reason why a machine with `available` B cannot play it: the largest parts, and settings that
/// reduce them. Empty: it can.
std::string memory_refusal(const MemoryNeed& need, std::optional<size_t> available);

}  // namespace turnpike::lab
