// SPDX-License-Identifier: BSD-3-Clause
// Finds each packet's customer.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Sets PacketInfo::customer of the packets in Burst::forward. `edge`: they arrived on an edge
/// link; prefetches their accounts. Before lookup(), whose work hides the cache misses.
void find_customers(Burst& burst, const WorkerContext& context, bool edge);

}  // namespace turnpike::router
