// SPDX-License-Identifier: BSD-3-Clause
// When a run's shares stand still, and what each host is entitled to then.
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
  std::vector<config::Hop> bottlenecks;  // links that are full when everybody has that
};

/// A stretch of time in which finite flows were, or may be, open: nothing is claimed there.
struct Busy {
  Nanos from{0}, to{0};
};

/// From the file alone: a finite flow or a workload may be open from its start to the run's end.
std::vector<Busy> planned_busy(const config::Topology& topology);

/// The run cut where the set of open flows changes. Stretches that are busy, or in which nobody is
/// open, are left out.
std::vector<Phase> phases(const config::Topology& topology, std::span<const Busy> busy);

/// The same less Run::settle at the head of each: where shares are judged. Phases that are not
/// longer than that vanish.
std::vector<Phase> steady_intervals(const config::Topology& topology, std::span<const Busy> busy);

/// B that `direction` of a link carries of IP datagrams of `packet` bytes, per B of its rate.
double payload_fraction(const config::Direction& direction, Bytes packet);

}  // namespace turnpike::sender
