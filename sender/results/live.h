// SPDX-License-Identifier: BSD-3-Clause
// Makes the live view of a run from a recorder's latest sample.
#pragma once

#include "common/config/topology.h"
#include "common/report/live_view.h"
#include "sender/results/recorder.h"

namespace turnpike::sender {

/// The live view of a recorder's latest sample, with the hosts at which flows start.
report::LiveView view_of(const config::Topology& topology, const Recorder& recorder);

}  // namespace turnpike::sender
