// SPDX-License-Identifier: BSD-3-Clause
// Parts of a router that are made alike at its start and for a reconfiguration.
#pragma once

#include <memory>
#include <vector>

#include "common/config/topology.h"
#include "router/control/customer_table.h"
#include "router/datapath/link/egress_link.h"
#include "router/router.h"

namespace turnpike::router {

/// The packets that some link's law charges.
Audited audited_packets(const config::Topology& topology);

/// The egress side of link `l` of topology.routers[node], without rings and owner. `audited`:
/// audited_packets(). `customers`: null: groups do not matter.
std::unique_ptr<EgressLink> make_link(const config::Topology& topology, size_t node, size_t l,
                                      const RouterOptions& options, const Audited& audited,
                                      const CustomerTable* customers);

/// Slots for the packets that a link's buffer can hold, at most `pool`.
uint32_t slots_for(const EgressLink& link, uint32_t pool);

/// Shares of a packet pool for the router's links. `links`: with their buffers.
BufferShare buffer_share(const config::Topology& topology, size_t node,
                         const RouterOptions& options, std::span<EgressLink* const> links,
                         rte_mempool* pool);

/// By link of the router: the check of what it receives there.
std::vector<config::SourceCheck> source_checks(const config::Topology& topology, size_t node);

}  // namespace turnpike::router
