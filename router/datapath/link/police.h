// SPDX-License-Identifier: BSD-3-Clause
// Fourth stage: drops packets of a group that the link cannot take, or beyond its share of
// resources.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// police() where it may drop packets.
void police_drops(Burst& burst, LinkGroup& group, WorkerContext& context);

/// Drops all packets for a link that is down, and while the packet pool is scarce those beyond the
/// link's share of it (buffer_share.h). Removes them from the group.
inline void police(Burst& burst, LinkGroup& group, WorkerContext& context) {
  if (context.scarce || !context.queues[group.link].up()) [[unlikely]]
    police_drops(burst, group, context);
}

}  // namespace turnpike::router
