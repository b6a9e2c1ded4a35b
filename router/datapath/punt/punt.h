// SPDX-License-Identifier: BSD-3-Clause
// Linux as control plane: the stage that hands packets to it, and the packets that come from it.
#pragma once

#include "router/datapath/punt/punt_path.h"
#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Of a burst behind the lookup, hands to Linux all of `local`, and of `dropped` the packets that a
/// router does not forward but its control plane needs; see docs/linux-control.md. Frames are as
/// they arrived, without padding. Packets beyond a rate or a queue are dropped for a reason of
/// their own. Packets for unresolved neighbours wait.
void punt(Burst& burst, WorkerContext& context);

/// Sends frames that Linux sent through its interfaces by the links' ports, with the addresses that
/// they have: unpriced, as packets that the router originates. Returns whether there were any.
bool send_from_linux(WorkerContext& context, Nanos now);

/// Collects packets whose neighbours are known by now, or that have waited too long, in `burst`:
/// those of one link of arrival, in `forward` and `dropped`, ready for the lookup. The others wait
/// for the next call.
void take_waiting(Burst& burst, WorkerContext& context, Nanos now);

/// Drops all packets that wait for neighbours.
void discard_waiting(WorkerContext& context);

}  // namespace turnpike::router
