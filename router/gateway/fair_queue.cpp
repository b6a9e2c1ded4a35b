// SPDX-License-Identifier: BSD-3-Clause
#include "router/gateway/fair_queue.h"

#include <algorithm>

#include <rte_mbuf.h>

#include "common/dpdk/buffer.h"
#include "common/wire/ecn.h"
#include "router/datapath/link/ecn.h"

namespace turnpike::gateway {
namespace {

constexpr CodelParams kNoCodel{.target = kNever, .interval = kNever};

template <class Pool>
void push_back(Pool& pool, List& list, uint32_t i, uint32_t Turn::*next = &Turn::next) {
  pool[i].turn.*next = kNone;
  (list.empty() ? list.first : pool[list.last].turn.*next) = i;
  list.last = i;
}

template <class Pool>
void push_front(Pool& pool, List& list, uint32_t i, uint32_t Turn::*next) {
  pool[i].turn.*next = list.first;
  if (list.empty()) list.last = i;
  list.first = i;
}

template <class Pool>
void pop_front(Pool& pool, List& list, uint32_t Turn::*next = &Turn::next) {
  list.first = pool[list.first].turn.*next;
  if (list.first == kNone) list.last = kNone;
}

/// Gives an entry that gets its first packet a place in the round. Returns whether that is before
/// the entries which have used their share of it.
template <class Pool>
bool activate(Pool& pool, Round& round, uint32_t i, bool made, bool small) {
  Turn& turn = pool[i].turn;
  const auto place = [&](List& list, uint32_t Turn::*next) {
    small ? push_front(pool, list, i, next) : push_back(pool, list, i, next);
  };
  if (made) {
    turn.deficit = FairQueue::kQuantum;
    place(round.fresh, &Turn::next);
    return true;
  }
  if (turn.deficit <= 0) return false;  // its turn is still to come
  if (!turn.in_back) {
    turn.in_back = true;
    place(round.back, &Turn::next_back);
  }
  return true;
}

bool is_idle(const FlowQueue& flow) { return flow.packets.empty(); }
bool is_idle(const HostQueue& host) { return host.packets == 0; }

bool fits(const rte_mbuf& m, Fit fit) {
  return m.pkt_len <= fit.size &&
         (fit.ecn == Fit::kAnyEcn || wire::ecn_of(rte_pktmbuf_mtod(&m, const uint8_t*)) == fit.ecn);
}

bool marks(uint8_t* ip) { return router::mark_congestion(ip, ip[0] >> 4 == 6); }

}  // namespace

void FairQueue::put(rte_mbuf* packet, uint32_t host, uint32_t flow, uint64_t limit, Nanos now) {
  // Dynamic threshold (Choudhury and Hahne): a tunnel may hold as many packets as are free.
  if (packets_ >= pool_.free.size()) {
    give_back(packet);
    dropped_.add();
    return;
  }
  const Alone arrival{.packet = pool_.free.back(), .host = host, .flow = flow};
  pool_.free.pop_back();
  const bool alone = idle(), small = packet->pkt_len <= kSmall;
  const bool urgent = alone && small;
  pool_.waiting[arrival.packet] = {.packet = packet, .since = now, .urgent = urgent};
  urgent_ += urgent;
  small_ += small;
  bytes_ += packet->pkt_len;
  ++packets_;
  if (alone) {
    alone_ = arrival;
  } else {
    if (alone_.packet != kNone) place(std::exchange(alone_, {}));
    place(arrival);
  }
  // More than one packet, if they are smaller than the one that came.
  while (bytes_ > limit && drop_from_fullest(now)) {
  }
}

/// Puts a packet into its flow's queue, or drops it where there is no entry for its host or flow.
void FairQueue::place(const Alone& packet) {
  Waiting& waiting = pool_.waiting[packet.packet];
  bool new_host = false, new_flow = false;
  const uint32_t h = pool_.hosts.find(tunnel_, packet.host, new_host);
  const uint32_t f = h == kNone ? kNone : pool_.flows.find(h, packet.flow, new_flow);
  if (f == kNone) {
    if (new_host) pool_.hosts.give_back(h);
    give_back(release(packet.packet, waiting.since));
    dropped_.add();
    return;
  }
  HostQueue& of = pool_.hosts[h];
  FlowQueue& queue = pool_.flows[f];
  const uint32_t size = waiting.packet->pkt_len;
  const bool small = size <= kSmall;
  if (of.packets++ == 0) activate(pool_.hosts, round_, h, new_host, small);
  urgent_ -= waiting.urgent;
  waiting.urgent =
      queue.packets.empty() && activate(pool_.flows, of.round, f, new_flow, small) && small;
  urgent_ += waiting.urgent;
  (queue.packets.empty() ? queue.packets.first : pool_.waiting[queue.packets.last].next) =
      packet.packet;
  queue.packets.last = packet.packet;
  queue.bytes += size;
  if (fullest_ == kNone || queue.bytes >= pool_.flows[fullest_].bytes) fullest_ = f;
}

/// False: no packet waits.
bool FairQueue::drop_from_fullest(Nanos now) {
  rte_mbuf* packet = nullptr;
  if (alone_.packet != kNone) {
    packet = pop_alone(now);
  } else if (fullest_ != kNone) {
    // The oldest packet: its loss is noticed first.
    FlowQueue& flow = pool_.flows[fullest_];
    packet = pop(flow, now);
    if (flow.packets.empty()) reclaim_after(flow.owner);
  } else {
    packet = take_in_turn(kNoCodel, now, {});
  }
  if (packet == nullptr) return false;
  give_back(packet);
  dropped_.add();
  return true;
}

/// Gives back some entries of the old ones that are idle: those that a drop has emptied get no
/// visit while others are new.
template <class Pool, class Take>
void FairQueue::reclaim(Pool& pool, Round& round, Take&& take) {
  constexpr unsigned kLooks = 4;  // more than there are drops
  for (unsigned n = 0; n < kLooks && !round.old.empty() && pool.crowded(); ++n) {
    const uint32_t i = round.old.first;
    pop_front(pool, round.old);
    if (is_idle(pool[i]) && !pool[i].turn.in_back) {
      take(pool[i]);  // of a host: its idle flows end their rounds
      pool.give_back(i);
    } else {
      push_back(pool, round.old, i);
    }
  }
}

/// After a drop has emptied a flow of this host.
void FairQueue::reclaim_after(uint32_t host) {
  const auto of_flow = [](FlowQueue&) { return Taken{}; };
  reclaim(pool_.flows, pool_.hosts[host].round, of_flow);
  reclaim(pool_.hosts, round_,
          [&](HostQueue& idle) { return serve(pool_.flows, idle.round, of_flow); });
}

/// Takes a packet out of the memory of those that wait, and out of their sums.
rte_mbuf* FairQueue::release(uint32_t waiting, Nanos now) {
  const Waiting& w = pool_.waiting[waiting];
  bytes_ -= w.packet->pkt_len;
  --packets_;
  urgent_ -= w.urgent;
  small_ -= w.packet->pkt_len <= kSmall;
  sojourn_ = now - w.since;
  pool_.free.push_back(waiting);
  return w.packet;
}

rte_mbuf* FairQueue::pop(FlowQueue& flow, Nanos now) {
  const uint32_t first = flow.packets.first;
  flow.packets.first = pool_.waiting[first].next;
  if (flow.packets.first == kNone) {
    flow.packets.last = kNone;
    if (fullest_ != kNone && &pool_.flows[fullest_] == &flow) fullest_ = kNone;
  }
  --pool_.hosts[flow.owner].packets;
  rte_mbuf* const packet = release(first, now);
  flow.bytes -= packet->pkt_len;
  return packet;
}

/// The next packet of those that came back.
template <class Pool, class Take>
FairQueue::Taken FairQueue::serve_back(Pool& pool, List& back, Take&& take) {
  while (!back.empty()) {
    Turn& turn = pool[back.first].turn;
    const Taken taken = turn.deficit > 0 ? take(pool[back.first]) : Taken{};
    if (taken.packet != nullptr) turn.deficit -= static_cast<int32_t>(taken.packet->pkt_len);
    if (taken.packet != nullptr || taken.unfit) return taken;
    turn.in_back = false;
    pop_front(pool, back, &Turn::next_back);
  }
  return {};
}

/// Serves the lists of one level until a packet is found: RFC 8290 section 4.2.
template <class Pool, class Take>
FairQueue::Taken FairQueue::serve(Pool& pool, Round& round, Take&& take) {
  if (const Taken taken = serve_back(pool, round.back, take);
      taken.packet != nullptr || taken.unfit)
    return taken;
  List &fresh = round.fresh, &old = round.old;
  for (;;) {
    List& list = !fresh.empty() ? fresh : old;
    if (list.empty()) return {};
    const uint32_t i = list.first;
    Turn& turn = pool[i].turn;
    if (turn.deficit <= 0 && !(is_idle(pool[i]) && pool.crowded())) {
      turn.deficit += kQuantum;
      pop_front(pool, list);
      turn.old = true;
      push_back(pool, old, i);
      continue;
    }
    const Taken taken = take(pool[i]);
    if (taken.packet != nullptr) turn.deficit -= static_cast<int32_t>(taken.packet->pkt_len);
    if (taken.packet != nullptr || taken.unfit) return taken;
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

// CoDel never signals to the last packet of a queue (RFC 8289 section 4.4).
rte_mbuf* FairQueue::take_alone(Nanos now, Fit fit) {
  if (alone_.packet == kNone || !fits(*pool_.waiting[alone_.packet].packet, fit)) return nullptr;
  return pop_alone(now);
}

rte_mbuf* FairQueue::take_in_turn(const CodelParams& params, Nanos now, Fit fit) {
  const auto of_flow = [&](FlowQueue& flow) { return take_of(flow, params, now, fit); };
  return serve(pool_.hosts, round_,
               [&](HostQueue& host) { return serve(pool_.flows, host.round, of_flow); })
      .packet;
}

uint32_t FairQueue::clear() {
  uint32_t count = 0;
  while (rte_mbuf* const packet = take(kNoCodel, Nanos(0))) {
    give_back(packet);
    ++count;
  }
  dropped_.add(count);
  return count;
}

FairQueue::Taken FairQueue::take_of(FlowQueue& flow, const CodelParams& params, Nanos now,
                                    Fit fit) {
  while (!flow.packets.empty()) {
    if (!fits(*pool_.waiting[flow.packets.first].packet, fit)) return {.unfit = true};
    rte_mbuf* const packet = pop(flow, now);
    if (!flow.codel.should_signal(sojourn_, flow.packets.empty(), params, now))
      return {.packet = packet};
    if (marks(rte_pktmbuf_mtod(packet, uint8_t*))) {
      marked_.add();
      return {.packet = packet};
    }
    give_back(packet);
    dropped_.add();
  }
  return {};
}

}  // namespace turnpike::gateway
