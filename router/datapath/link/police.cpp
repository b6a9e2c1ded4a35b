// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/link/police.h"

#include <algorithm>

namespace turnpike::router {

namespace {

void drop_all(Burst& burst, LinkGroup& group, DropReason why) {
  for_each(group.members, [&](unsigned i) { burst.drop(i, why); });
  group.members = 0;
}

}  // namespace

void police_drops(Burst& burst, LinkGroup& group, WorkerContext& context) {
  const LinkQueue& queue = context.queues[group.link];
  if (!queue.up()) return drop_all(burst, group, DropReason::kLinkDown);
  const uint64_t held = queue.held();
  const uint64_t limit = context.buffers.limit(group.link);
  uint64_t room = limit - std::min(held, limit);
  for_each(group.members, [&](unsigned i) {
    if (room > 0) {
      --room;
      return;
    }
    burst.drop(i, DropReason::kBufferShare);
    group.members &= ~(uint32_t{1} << i);
  });
}

}  // namespace turnpike::router
