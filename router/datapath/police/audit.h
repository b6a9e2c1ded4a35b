// SPDX-License-Identifier: BSD-3-Clause
// Around the fifth stage, at links to hosts: drops packets of senders that owe, and finds them.
#pragma once

#include "router/datapath/burst.h"
#include "router/datapath/link/link_queue.h"
#include "router/datapath/police/balance_audit.h"

namespace turnpike::router {

/// Drops the packets of senders that the audit has blocked, and removes them from the group. Before
/// the link's law, so that they count for nothing there.
void drop_blocked(Burst& burst, LinkGroup& group, BalanceAudit& audit);

/// Counts what the packets `members` pay and have been charged, this link's price included.
void audit_payments(const Burst& burst, uint32_t members, BalanceAudit& audit);

}  // namespace turnpike::router
