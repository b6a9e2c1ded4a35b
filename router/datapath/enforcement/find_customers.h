// SPDX-License-Identifier: BSD-3-Clause
// Finds each packet's customer, at edge links.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Sets PacketInfo::customer of the packets in Burst::forward, which arrived on an edge link, and
/// prefetches the customers' accounts. Before lookup(), whose work hides the cache misses.
void find_customers(Burst& burst, const WorkerContext& context);

}  // namespace turnpike::router
