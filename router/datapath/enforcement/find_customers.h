// SPDX-License-Identifier: BSD-3-Clause
// Finds each packet's customer.
#pragma once

#include "router/datapath/lookup/address_batch.h"
#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// First step, before lookup(), whose work hides the cache misses of the table: sets
/// PacketInfo::customer of the packets in Burst::forward if their input belongs to a customer.
/// Otherwise takes their source addresses and prefetches their entries in the table of customers.
void seek_customers(Burst& burst, AddressBatch& sources, const WorkerContext& context, bool edge);

/// Second step, after lookup(): sets PacketInfo::customer of the packets with these sources, which
/// it clears. `edge`: they arrived on an edge link; prefetches their accounts.
void find_customers(Burst& burst, AddressBatch& sources, const WorkerContext& context, bool edge);

}  // namespace turnpike::router
