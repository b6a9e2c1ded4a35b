// SPDX-License-Identifier: BSD-3-Clause
// Packets to and from the receivers of multicast trees (docs/multicast.md).
#pragma once

#include "router/datapath/multicast/tree_state.h"
#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Handles a burst's `multicast` set. Packets from the root are copied to each branch and
/// forwarded. Answers of branches are joined: those that complete a joined answer move to
/// `forward`. Drops packets that are not on their tree.
void multicast(Burst& burst, WorkerContext& context);

/// Joins the answers that other workers handed to this one, which must be MulticastState::kOwner.
/// Returns whether there were any.
bool collect_answers(WorkerContext& context, Nanos now);

/// Drops the answers that other workers have handed over.
void discard_answers(WorkerContext& context);

}  // namespace turnpike::router
