// SPDX-License-Identifier: BSD-3-Clause
#include "router/gateway/fair_queue.h"

#include <algorithm>

#include <rte_mbuf.h>

#include "common/dpdk/buffer.h"
#include "router/datapath/link/ecn.h"

namespace turnpike::gateway {
namespace {

template <class Pool>
void push_back(Pool& pool, List& list, uint32_t i, uint32_t Turn::*next = &Turn::next) {
  pool[i].turn.*next = kNone;
  (list.empty() ? list.first : pool[list.last].turn.*next) = i;
  list.last = i;
}

template <class Pool>
void pop_front(Pool& pool, List& list, uint32_t Turn::*next = &Turn::next) {
  list.first = pool[list.first].turn.*next;
  if (list.first == kNone) list.last = kNone;
}

/// Gives an entry that gets its first packet a place in the round.
template <class Pool>
void activate(Pool& pool, Round& round, uint32_t i, bool made) {
  Turn& turn = pool[i].turn;
  if (made) {
    turn.deficit = FairQueue::kQuantum;
    push_back(pool, round.fresh, i);
  } else if (turn.deficit > 0 && !turn.in_back) {  // without deficit its turn is still to come
    turn.in_back = true;
    push_back(pool, round.back, i, &Turn::next_back);
  }
}

bool marks(uint8_t* ip) { return router::mark_congestion(ip, ip[0] >> 4 == 6); }

/// The next packet of those that came back; null: none.
template <class Pool, class Take>
rte_mbuf* serve_back(Pool& pool, List& back, Take&& take) {
  while (!back.empty()) {
    Turn& turn = pool[back.first].turn;
    rte_mbuf* const packet = turn.deficit > 0 ? take(pool[back.first]) : nullptr;
    if (packet != nullptr) {
      turn.deficit -= static_cast<int32_t>(packet->pkt_len);
      return packet;
    }
    turn.in_back = false;
    pop_front(pool, back, &Turn::next_back);
  }
  return nullptr;
}

/// Serves the lists of one level until a packet is found: RFC 8290 section 4.2.
template <class Pool, class Take>
rte_mbuf* serve(Pool& pool, Round& round, Take&& take) {
  if (rte_mbuf* const packet = serve_back(pool, round.back, take); packet != nullptr) return packet;
  List &fresh = round.fresh, &old = round.old;
  for (;;) {
    List& list = !fresh.empty() ? fresh : old;
    if (list.empty()) return nullptr;
    const uint32_t i = list.first;
    Turn& turn = pool[i].turn;
    if (turn.deficit <= 0) {
      turn.deficit += FairQueue::kQuantum;
      pop_front(pool, list);
      turn.old = true;
      push_back(pool, old, i);
      continue;
    }
    rte_mbuf* const packet = take(pool[i]);
    if (packet != nullptr) {
      turn.deficit -= static_cast<int32_t>(packet->pkt_len);
      return packet;
    }
    pop_front(pool, list);
    // One that was new waits behind the old ones, so that it cannot always be new.
    if (!turn.old && !old.empty() && !pool.crowded()) {
      turn.old = true;
      push_back(pool, old, i);
    } else {
      pool.give_back(i);
    }
  }
}

}  // namespace

void FairQueue::put(rte_mbuf* packet, uint32_t host, uint32_t flow, uint64_t limit, Nanos now) {
  // Dynamic threshold (Choudhury and Hahne): a tunnel may hold as many packets as are free.
  if (packets_ >= pool_.free.size()) {
    give_back(packet);
    dropped_.add();
    return;
  }
  bool new_host = false, new_flow = false;
  const uint32_t h = pool_.hosts.find(tunnel_, host, new_host);
  const uint32_t f = h == kNone ? kNone : pool_.flows.find(h, flow, new_flow);
  if (f == kNone) {
    if (new_host) pool_.hosts.give_back(h);
    give_back(packet);
    dropped_.add();
    return;
  }
  HostQueue& of = pool_.hosts[h];
  FlowQueue& queue = pool_.flows[f];
  if (of.packets++ == 0) activate(pool_.hosts, round_, h, new_host);
  if (queue.packets.empty()) activate(pool_.flows, of.round, f, new_flow);
  const uint32_t w = pool_.free.back();
  pool_.free.pop_back();
  pool_.waiting[w] = {.packet = packet, .since = now};
  (queue.packets.empty() ? queue.packets.first : pool_.waiting[queue.packets.last].next) = w;
  queue.packets.last = w;
  queue.bytes += packet->pkt_len;
  bytes_ += packet->pkt_len;
  ++packets_;
  if (fullest_ == kNone || queue.bytes >= pool_.flows[fullest_].bytes) fullest_ = f;
  if (bytes_ > limit) drop_from_fullest(now);
}

void FairQueue::drop_from_fullest(Nanos now) {
  // The oldest packet: its loss is noticed first.
  give_back(pop(pool_.flows[fullest_], now));
  dropped_.add();
}

rte_mbuf* FairQueue::pop(FlowQueue& flow, Nanos now) {
  const uint32_t w = flow.packets.first;
  Waiting& waiting = pool_.waiting[w];
  flow.packets.first = waiting.next;
  if (flow.packets.first == kNone) flow.packets.last = kNone;
  pool_.free.push_back(w);
  rte_mbuf* const packet = waiting.packet;
  flow.bytes -= packet->pkt_len;
  bytes_ -= packet->pkt_len;
  --packets_;
  --pool_.hosts[flow.owner].packets;
  sojourn_ = now - waiting.since;
  return packet;
}

rte_mbuf* FairQueue::take(const CodelParams& params, Nanos now) {
  return serve(pool_.hosts, round_, [&](HostQueue& host) { return take_of(host, params, now); });
}

rte_mbuf* FairQueue::take_of(HostQueue& host, const CodelParams& params, Nanos now) {
  return serve(pool_.flows, host.round,
               [&](FlowQueue& flow) { return take_of(flow, params, now); });
}

rte_mbuf* FairQueue::take_of(FlowQueue& flow, const CodelParams& params, Nanos now) {
  while (!flow.packets.empty()) {
    rte_mbuf* const packet = pop(flow, now);
    if (!flow.codel.should_signal(sojourn_, flow.packets.empty(), params, now)) return packet;
    if (marks(rte_pktmbuf_mtod(packet, uint8_t*))) {
      marked_.add();
      return packet;
    }
    give_back(packet);
    dropped_.add();
  }
  if (fullest_ != kNone && &pool_.flows[fullest_] == &flow) fullest_ = kNone;
  return nullptr;
}

}  // namespace turnpike::gateway
