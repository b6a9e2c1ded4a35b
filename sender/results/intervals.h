// SPDX-License-Identifier: BSD-3-Clause
// Computes the intervals of a run with constant shares, and the entitled rates in each.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/config/path.h"
#include "common/config/topology.h"
#include "common/units/units.h"

namespace turnpike::sender {

/// A stretch of time in which the same endless flows are open and no finite flow is.
struct Phase {
  Nanos from{0}, to{0};
  std::vector<BitRate> hosts;  // entitled rate of each host in IP datagrams; 0: no flow open
  std::vector<BitRate> flows;  // likewise of each entry of Topology::flows, all `count` together
  std::vector<config::Hop> bottlenecks;  // links that are full at these rates
};

/// A stretch of time in which finite flows were, or may be, open: it has no entitled rates.
struct Busy {
  Nanos from{0}, to{0};
};

/// Busy stretches by the topology alone: a finite flow or a workload may be open from its start to
/// the run's end.
std::vector<Busy> planned_busy(const config::Topology& topology);

/// Cuts the run where the set of open flows changes. Omits stretches that are busy, without an open
/// flow, or with an open flow whose rate budgets do not determine: all where groups share a link.
std::vector<Phase> phases(const config::Topology& topology, std::span<const Busy> busy);

/// phases() without Run::settle at the beginning of each: shares are checked there. Omits phases
/// not longer than Run::settle.
std::vector<Phase> steady_intervals(const config::Topology& topology, std::span<const Busy> busy);

/// Bytes of IP datagrams of `packet` B per byte of the rate of a link's `direction`.
double payload_fraction(const config::Direction& direction, Bytes packet);

}  // namespace turnpike::sender
