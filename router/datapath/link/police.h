// SPDX-License-Identifier: BSD-3-Clause
// Fourth stage: limits a group of packets to its link's share of resources.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Drops packets beyond the link's share of the packet pool (buffer_share.h) and removes them from
/// the group. Acts only while the pool is scarce.
void police(Burst& burst, LinkGroup& group, WorkerContext& context);

}  // namespace turnpike::router
