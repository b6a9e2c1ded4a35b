// SPDX-License-Identifier: BSD-3-Clause
// Charges customers' packets to their budgets, at edge links, before any law counts the packets.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Charges the packets of customers in Burst::forward, Burst::oversized and Burst::multicast and
/// drops those beyond their budgets (kOverBudget), so that their promises count nowhere. After
/// find_customers() and lookup().
///
/// Sets the exchange rates of all packets with money to 1: their amounts are in the customers' own
/// money, as budgets are. Prices of links that groups share are converted into it.
///
/// A customer with budget W has token buckets of rate W x (1 + tolerance), the first with the depth
/// of `burst`, the others with that of `promise_burst`:
/// - payments: balance x size of packets with a charge; price of the egress link x size x (1 +
///   tolerance) of others. audit_payments() adds what the balance falls short of the link's price;
/// - commitments: money promised for the next round trip (protocols/charge.h);
/// - openings: SYNs, at twice the rate. A SYN costs its bytes at the price of the egress link, and
///   its first round: the bytes announced at that price, at most the flow's budget for the
///   customer's shortest round trip. Honest flows stay below W: n flows at a time live for at
///   least a round trip each and share W.
///
/// Customers that announce much more or much less than they send are blocked (misbehaviour.h).
///
/// An ACK is free if the customer has been sent a data packet for it (credit_acks()).
void charge_customers(Burst& burst, WorkerContext& context);

/// Counts the data packets of the burst that leave on edge links: their receivers may acknowledge
/// each with a packet that is not charged.
void credit_acks(const Burst& burst, WorkerContext& context);

}  // namespace turnpike::router
