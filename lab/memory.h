// SPDX-License-Identifier: BSD-3-Clause
// What memory a run of the lab takes, and whether the machine has it.
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
  std::string remedy;  // what to change in the file, so that it takes less
};

/// The parts of a run's memory, the largest first.
struct MemoryNeed {
  std::vector<MemoryPart> parts;
  [[nodiscard]] size_t total() const;
};

/// At the peak of the whole run: buffers for all that links can hold, and tables and results as far
/// as the traffic fills them. The error of the sum is about a quarter at most where it matters
/// (from a few hundred megabytes on).
MemoryNeed memory_of(const config::Topology& topology, const sender::Traces& traces);

/// One line: the sum and its larger parts, and what the machine has, `available` B, where that is
/// known.
std::string memory_text(const MemoryNeed& need, std::optional<size_t> available);

/// Why a machine with so much memory cannot play it: what makes it large, and what to change.
/// Empty: it can.
std::string memory_refusal(const MemoryNeed& need, std::optional<size_t> available);

}  // namespace turnpike::lab
