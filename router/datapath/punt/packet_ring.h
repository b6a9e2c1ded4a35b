// SPDX-License-Identifier: BSD-3-Clause
// A ring of packets between a worker and the punt thread.
#pragma once

#include "router/datapath/entry_ring.h"

namespace turnpike::router {

/// rte_mbuf::port of a packet is the index of its link.
using PacketRing = EntryRing<rte_mbuf*>;

}  // namespace turnpike::router
