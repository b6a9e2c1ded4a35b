// SPDX-License-Identifier: BSD-3-Clause
// Takes packets out of the link's queue: calls the law's departure hook, then sends them.
#include "router/datapath/link/checksum_range.h"
#include "router/datapath/link/link_queue.h"
#include "router/datapath/scratch.h"

namespace turnpike::router {

void LinkQueue::dequeue(std::span<const QueuedPacket> batch, Nanos now) {
  if (link_.traits.wants_dequeue) depart(batch, now);
  for (const QueuedPacket& q : batch) tx_->append(q.mbuf, q.size, now);
  tx_->flush(now);
}

void LinkQueue::depart(std::span<const QueuedPacket> packets, Nanos now) {
  const HeaderRange rewritten = link_.traits.rewritten;
  Scratch<LinkPacket> scratch;
  const std::span<LinkPacket> leaving(scratch.of.data(), packets.size());
  std::array<uint64_t, kBurst> before;
  for (size_t k = 0; k < packets.size(); ++k) {
    const QueuedPacket& q = packets[k];
    leaving[k] = {.size = q.size, .opens = q.opens != 0, .queue_class = q.queue_class};
    if (q.congestion == 0) continue;
    leaving[k].header = frame_of(q.mbuf) + q.congestion;
    leaving[k].flow = flow_hash(leaving[k].header);
    before[k] = sum_of(leaving[k].header, rewritten);
  }
  const LinkState state = state_at(static_cast<double>(link_.queued()));
  link_.law->depart(worker_, leaving, state, law_time(now));
  for (size_t k = 0; k < packets.size(); ++k)
    if (leaving[k].header != nullptr)
      update_checksum(leaving[k].header, before[k], sum_of(leaving[k].header, rewritten));
}

}  // namespace turnpike::router
