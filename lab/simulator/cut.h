// SPDX-License-Identifier: BSD-3-Clause
// Cuts a topology into parts that threads can simulate at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/config/topology.h"
#include "common/units/units.h"

namespace turnpike::lab {

/// Parts of a topology. A packet takes at least the lookahead from one part to another, so that
/// each part can be simulated for that long without the others (Chandy and Misra, IEEE TSE SE-5(5),
/// 1979; windows as in Nicol, JACM 40(2), 1993).
struct Cut {
  uint32_t parts = 1;
  std::vector<uint32_t> router_parts, host_parts;  // by index into the topology
  std::vector<size_t> links;                       // that lead from one part to another
  Nanos lookahead = kNever;                        // the least delay of these links; none: kNever
  std::vector<double> weights;                     // shares of the expected work, by part
  std::string why = {};                            // there are fewer parts than wanted, since

  /// Whether the ends of a link are in different parts.
  [[nodiscard]] bool crosses(size_t link) const;
  /// Over one part, if waiting for each other took no time: the inverse of the greatest weight.
  [[nodiscard]] double speed_up() const;
};

/// At most `wanted` parts, at least 1, of about equal work. Prefers few links between parts, and
/// those with the largest delays. Nodes that are joined without a delay are in one part.
Cut cut(const config::Topology& topology, uint32_t wanted);

/// Describes the cut and its cost, for people.
std::string cut_text(const config::Topology& topology, const Cut& cut);

}  // namespace turnpike::lab
