// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/multicast/multicast.h"

#include <algorithm>

#include "common/wire/bytes.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/link/checksum_range.h"
#include "router/datapath/local/local_tx.h"
#include "router/datapath/lookup/lookup.h"
#include "router/datapath/multicast/answers.h"
#include "router/datapath/multicast/replicate.h"

namespace turnpike::router {

namespace {

// Ethernet with a tag, IPv6, UDP, common header and FCP's: every field that a router may rewrite.
constexpr uint32_t kHeaderBytes = 128;

bool from_root(const uint8_t* ip, const PacketInfo& p, const TreeEntry& tree) {
  return p.has(kIpv6) ? load_ipv6(ip + wire::kIpv6SourceAt) == tree.root6
                      : wire::load_be32(ip + wire::kIpv4SourceAt) == tree.root4;
}

/// Takes the price of the path so far out of an FCP request and logs it for the answers. False: the
/// price is not credible.
bool take_upstream_price(rte_mbuf& m, const PacketInfo& p, PriceLog& log) {
  uint8_t* header = frame_of(&m) + p.congestion;
  constexpr HeaderRange kPrice{fcp::kTakenBegin, fcp::kTakenEnd};
  const uint64_t before = sum_of(header, kPrice);
  const float price = fcp::take_price(header);
  if (price < 0) return false;
  update_checksum(header, before, sum_of(header, kPrice));
  const uint8_t* common = header - wire::kHeaderSize;
  log.store({wire::load_be32(common + wire::kFlowAt), wire::load_be32(common + wire::kSequenceAt),
             static_cast<uint8_t>(common[wire::kVersionKindAt] & 0x0f)},
            price);
  return true;
}

/// Why a packet from the root is not forwarded at all.
DropReason check_from_root(rte_mbuf& m, const PacketInfo& p, const TreeEntry& tree, PriceLog& log) {
  const uint8_t* ip = frame_of(&m) + p.l3;
  if (!from_root(ip, p, tree) || (p.has(kTurnpike) && p.congestion == 0))
    return DropReason::kMulticast;
  if (ip[p.has(kIpv6) ? wire::kIpv6HopLimitAt : wire::kIpv4TtlAt] <= 1)
    return DropReason::kTtlExpired;
  if (p.congestion != 0 && p.protocol == fcp::kProtocolId && !take_upstream_price(m, p, log))
    return DropReason::kBadCongestionHeader;
  return DropReason::kNone;
}

/// Copies the packet to all branches but one with too small an MTU. Every copy beyond the first
/// counts as originated.
void replicate(Burst& burst, unsigned i, const TreeEntry& tree, WorkerContext& context,
               LocalTx& out) {
  rte_mbuf& m = *burst.mbufs[i];
  const PacketInfo& p = burst.info[i];
  const auto front = static_cast<uint16_t>(std::min<uint32_t>(
      m.data_len,
      std::max<uint32_t>(kHeaderBytes, p.congestion + static_cast<uint32_t>(fcp::kHeaderSize))));
  context.counters->originated.add(tree.children.size() - 1);
  for (const NextHop* hop : tree.children) {
    if (p.datagram > hop->mtu) {
      context.queues[hop->link].drop(DropReason::kTooBig);
      continue;
    }
    rte_mbuf* copy = copy_front(m, front, context.pool);
    if (copy == nullptr) {
      context.queues[p.input].drop(DropReason::kNoMbuf);
      continue;
    }
    PacketInfo info = p;
    set_hop(info, *hop);
    out.add(copy, info);
  }
  burst.leave(i);
  rte_pktmbuf_free(&m);
}

void go_down(Burst& burst, unsigned i, const TreeEntry& tree, TreeState& state,
             WorkerContext& context, LocalTx& out) {
  PacketInfo& p = burst.info[i];
  rte_mbuf& m = *burst.mbufs[i];
  set_hop(p, *tree.children.front());
  const DropReason why = check_from_root(m, p, tree, state.prices(context.index));
  if (why != DropReason::kNone) return burst.drop(i, why);
  if (tree.children.size() > 1) return replicate(burst, i, tree, context, out);
  if (p.datagram > p.hop->mtu) return burst.drop(i, DropReason::kTooBig);
  burst.move_to(burst.forward, i);
}

void go_up(Burst& burst, unsigned i, size_t index, WorkerContext& context) {
  const TreeEntry& tree = context.tables->trees()[index];
  MulticastState& state = *context.multicast;
  PacketInfo& p = burst.info[i];
  if (context.index != MulticastState::kOwner) {
    // The owner may take the answer at once: counts it before.
    context.counters->handed.add();
    if (state.ring(context.index).push({burst.mbufs[i], p, index})) return burst.leave(i);
    context.counters->taken.add();
    set_hop(p, *tree.upstream);
    return burst.drop(i, DropReason::kQueueSlots);
  }
  const AnswerOutcome done = take_answer(*burst.mbufs[i], p, tree, state.tree(index), burst.now);
  switch (done.result) {
    case AnswerResult::kSend:
      return burst.move_to(burst.forward, i);
    case AnswerResult::kDrop:
      return burst.drop(i, done.why);
    case AnswerResult::kTaken:
      context.counters->delivered.add();
      burst.leave(i);
      rte_pktmbuf_free(burst.mbufs[i]);
  }
}

/// Calls f(entry) for each answer that other workers have handed over.
template <class F>
bool for_each_handed(WorkerContext& context, F&& f) {
  bool any = false;
  for (unsigned w = 0; w < context.multicast->workers(); ++w) {
    if (w == MulticastState::kOwner) continue;
    AnswerRing& ring = context.multicast->ring(w);
    HandedAnswer entry;
    // At most what was there: others may push as fast as this loop pops.
    for (uint32_t n = 0; n < AnswerRing::kSlots && ring.pop(entry); ++n) {
      context.counters->taken.add();
      any = true;
      f(entry);
    }
  }
  return any;
}

void drop_handed(WorkerContext& context, const HandedAnswer& entry, DropReason why) {
  context.queues[at_egress(why) ? entry.info.link : entry.info.input].drop(why);
  rte_pktmbuf_free(entry.mbuf);
}

}  // namespace

void multicast(Burst& burst, WorkerContext& context) {
  LocalTx out(context, burst.now, burst.since);
  for_each(burst.multicast, [&](unsigned i) {
    const size_t index = burst.info[i].link;
    const TreeEntry& tree = context.tables->trees()[index];
    if (burst.info[i].input == tree.upstream->link) {
      go_down(burst, i, tree, context.multicast->tree(index), context, out);
    } else {
      go_up(burst, i, index, context);
    }
  });
}

bool collect_answers(WorkerContext& context, Nanos now) {
  if (context.multicast->workers() == 1) return false;
  LocalTx out(context, now);
  return for_each_handed(context, [&](HandedAnswer& entry) {
    const TreeEntry& tree = context.tables->trees()[entry.tree];
    const AnswerOutcome done =
        take_answer(*entry.mbuf, entry.info, tree, context.multicast->tree(entry.tree), now);
    switch (done.result) {
      case AnswerResult::kSend:
        return out.add(entry.mbuf, entry.info);
      case AnswerResult::kDrop:
        return drop_handed(context, entry, done.why);
      case AnswerResult::kTaken:
        context.counters->delivered.add();
        rte_pktmbuf_free(entry.mbuf);
    }
  });
}

void discard_answers(WorkerContext& context) {
  for_each_handed(context, [&](HandedAnswer& entry) {
    set_hop(entry.info, *context.tables->trees()[entry.tree].upstream);
    drop_handed(context, entry, DropReason::kShutdown);
  });
}

}  // namespace turnpike::router
