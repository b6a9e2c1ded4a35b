// SPDX-License-Identifier: BSD-3-Clause
// Counters of a gateway.
#pragma once

#include "common/metrics/counter.h"

namespace turnpike::gateway {

/// Counters of a gateway's lcore. The lcore writes, any thread reads.
struct GatewayTotals {
  metrics::Counter entered_packets, entered_bytes;    // customers' packets that were queued
  metrics::Counter released_packets, released_bytes;  // packets that left a tunnel here
  metrics::Counter unknown_customers;  // forwarded outside of tunnels: of no customer
  metrics::Counter outside;            // likewise: their peer does not answer
  metrics::Counter bypassed;           // likewise: their customer is bypassed
  metrics::Counter bad_packets;     // of tunnels: checksum, header, or payload that is no datagram
  metrics::Counter unknown_peers;   // tunnel packets from an address of no peer
  metrics::Counter ecn_drops;       // marked in the core, and their flow would not understand it
  metrics::Counter out_of_buffers;  // no reply, not released, or lost for want of headers
  metrics::Counter silent_drops;    // packets that waited for a peer when it fell silent
  metrics::Counter mtu_reductions;  // a smaller path MTU to a peer became known
  metrics::Counter no_flow;         // packets whose tunnel could not open: the flow table is full
  metrics::Counter handed_over;     // packets given to another lcore
  // Where tunnels are sealed, packets of a flow with a right token, and answers to it, that were
  // refused, since:
  metrics::Counter forged;        // their tag is wrong, or their key is unknown
  metrics::Counter unknown_keys;  // of those: no key of the peer has their id
  metrics::Counter unsealed;      // they are not sealed
  metrics::Counter not_sealed;    // packets lost because they could not be sealed
};

}  // namespace turnpike::gateway
