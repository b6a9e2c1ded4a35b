// SPDX-License-Identifier: BSD-3-Clause
// From a recorder's latest sample to what a person watching the run sees.
#pragma once

#include "common/config/topology.h"
#include "common/report/live_view.h"
#include "sender/results/recorder.h"

namespace turnpike::sender {

/// The view of a recorder's latest sample: the hosts at which flows start.
report::LiveView view_of(const config::Topology& topology, const Recorder& recorder);

}  // namespace turnpike::sender
