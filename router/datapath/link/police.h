// SPDX-License-Identifier: BSD-3-Clause
// Fourth stage: drops packets of a group that the link cannot take, or beyond its share of
// resources.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Drops all packets for a link that is down, and while the packet pool is scarce those beyond the
/// link's share of it (buffer_share.h). Removes them from the group.
void police(Burst& burst, LinkGroup& group, WorkerContext& context);

}  // namespace turnpike::router
