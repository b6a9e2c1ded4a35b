// SPDX-License-Identifier: BSD-3-Clause
// Fifth stage: priced packets enter their link's queue.
#pragma once

#include "router/datapath/link/price.h"

namespace turnpike::router {

/// Rewrites what is left of the group and puts it into the link's queue: the ring to the worker
/// that drains the link, or this worker's own port.
void enqueue(Burst& burst, const LinkGroup& group, WorkerContext& context);

/// price and enqueue, link by link, for all that a burst forwards.
void egress(Burst& burst, WorkerContext& context);

}  // namespace turnpike::router
