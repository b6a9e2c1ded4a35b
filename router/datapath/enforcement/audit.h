// SPDX-License-Identifier: BSD-3-Clause
// Around the fifth stage: compares packets' payments with the links' charges.
#pragma once

#include "router/datapath/link/link_queue.h"
#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Drops the packets of senders that the audit has blocked, and removes them from the group. Before
/// the link's law, so that they count for nothing there.
void drop_blocked(Burst& burst, LinkGroup& group, BalanceAudit& audit);

/// Compares what the packets `members` pay with what they have been charged, this link's price
/// included. At the edge it charges the difference to the packet's customer, who so pays the price
/// whatever its header says; at the last link of a path it audits the sender.
void audit_payments(const Burst& burst, uint32_t members, const LinkQueue& queue,
                    WorkerContext& context);

}  // namespace turnpike::router
