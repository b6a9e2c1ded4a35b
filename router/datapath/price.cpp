// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/price.h"

#include <algorithm>
#include <new>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/ecn.h"

namespace turnpike::router {

namespace {

/// The UDP checksum of a congestion header's packet: the common header lies between them.
uint8_t* checksum_before(uint8_t* congestion) {
  return congestion - wire::kHeaderSize - wire::kUdpSize + wire::kUdpChecksumAt;
}

// In host order: one's complement sums are the same in either (RFC 1071 section 2(B)).
uint32_t sum_of(const uint8_t* congestion, LinkLaw::Rewritten r) {
  const uint8_t* rewritten = congestion + r.begin;
  if (r.end - r.begin == 4) [[likely]] {
    uint32_t word;
    std::memcpy(&word, rewritten, sizeof word);
    return word;
  }
  return __builtin_bswap16(wire::sum_words({rewritten, static_cast<size_t>(r.end - r.begin)}));
}

void mend(uint8_t* congestion, LinkLaw::Rewritten r, uint32_t before) {
  uint8_t* at = checksum_before(congestion);
  uint16_t sum;
  std::memcpy(&sum, at, sizeof sum);
  sum = wire::update_udp_checksum(sum, before, sum_of(congestion, r));
  std::memcpy(at, &sum, sizeof sum);
}

// The buffer takes packets in order as long as they fit.
void drop_overflow(Burst& burst, uint32_t members, double room) {
  for_each(members, [&](unsigned i) {
    const double size = burst.info[i].size;
    if (size <= room) {
      room -= size;
    } else {
      burst.drop(i, DropReason::kQueueFull);
    }
  });
}

// The law's view of a group, and where each packet is in the burst.
struct Priced {
  unsigned count = 0;
  union {  // not made before there is something to put there
    std::array<PricedPacket, kBurst> packets;
  };
  std::array<uint32_t, kBurst> before;  // sums of what the law may rewrite
  std::array<uint8_t, kBurst> at;

  Priced(const Burst& burst, const LinkGroup& group, const EgressLink& link) {
    for_each(group.members, [&](unsigned i) {
      const PacketInfo& p = burst.info[i];
      PricedPacket& q = *new (&packets[count]) PricedPacket{
          .size = p.size, .opens = p.has(kOpens), .admitted = (burst.forward >> i & 1) != 0};
      if (p.congestion != 0 && p.protocol == link.protocol) {
        q.header = frame_of(burst.mbufs[i]) + p.congestion;
        before[count] = sum_of(q.header, link.rewritten);
      }
      at[count++] = static_cast<uint8_t>(i);
    });
  }
};

/// A number for the packet's flow, so that two senders' first flows differ: what its header names,
/// its ports, and what IPv4's source address is there, or a part of IPv6's destination.
uint32_t flow_of(const uint8_t* congestion) {
  const uint8_t* common = congestion - wire::kHeaderSize;
  const uint8_t* udp = common - wire::kUdpSize;
  const uint32_t ends = wire::load_be32(udp - 8) * 2654435761U ^ wire::load_be32(udp) * 2246822519U;
  return ends ^ wire::load_be32(common + wire::kFlowAt);
}

void depart_at_once(EgressLink& link, unsigned shard, std::span<const PricedPacket> arrived,
                    const LinkState& state, Nanos now) {
  std::array<PricedPacket, kBurst> leaving;
  size_t n = 0;
  for (const PricedPacket& p : arrived)
    if (p.admitted) {
      leaving[n] = p;
      if (p.header != nullptr) leaving[n].flow = flow_of(p.header);
      ++n;
    }
  if (n > 0) link.law->depart(shard, std::span(leaving.data(), n), state, now);
}

/// Each class has the whole buffer; packets keep their order within it.
void admit_by_class(Burst& burst, LinkGroup& group, const EgressLink& link, Priced& priced,
                    const LinkState& state) {
  std::array<double, kMaxClasses> room;
  for (unsigned c = 0; c < kMaxClasses; ++c) room[c] = state.buffer - state.queues[c];
  for (unsigned k = 0; k < priced.count; ++k) {
    PricedPacket& p = priced.packets[k];
    const unsigned i = priced.at[k], c = std::min(link.law->classify(p), link.classes - 1);
    group.classes[i] = p.queue_class = static_cast<uint8_t>(c);
    p.admitted = p.size <= room[c];
    if (p.admitted) {
      room[c] -= p.size;
    } else {
      burst.drop(i, DropReason::kQueueFull);
    }
  }
}

/// RFC 3168 section 5: what cannot be marked is dropped.
void carry_out(Burst& burst, Priced& priced) {
  for (unsigned k = 0; k < priced.count; ++k) {
    PricedPacket& p = priced.packets[k];
    if (p.verdict == Verdict::kPass || !p.admitted) continue;
    const unsigned i = priced.at[k];
    const PacketInfo& info = burst.info[i];
    if (info.has(kArp)) continue;  // no flow's: nobody would slow down
    if (p.verdict == Verdict::kSignal &&
        mark_congestion(frame_of(burst.mbufs[i]) + info.l3, info.has(kIpv6)))
      continue;
    p.admitted = false;
    burst.drop(i, DropReason::kEarlyDrop);
  }
}

}  // namespace

LinkState state_of(const EgressLink& link, double queue) {
  LinkState s{
      .capacity = link.capacity, .queue = queue, .buffer = static_cast<double>(link.buffer)};
  if (link.classes > 1)
    for (unsigned c = 0; c < link.classes; ++c) s.queues[c] = link.queued_of(c);
  return s;
}

void price(Burst& burst, LinkGroup& group, Lane& lane) {
  Egress& egress = lane.egress[group.link];
  EgressLink& link = *egress.link;
  const double queue = group.backlog = egress.backlog(burst.now);
  uint64_t offered = 0;
  for_each(group.members, [&](unsigned i) { offered += burst.info[i].size; });
  egress.shard->offered_bytes.add(offered);
  const double room = static_cast<double>(link.buffer) - queue;
  if (static_cast<double>(offered) > room && link.classes == 1) [[unlikely]]
    drop_overflow(burst, group.members, room);
  if (!link.law) return;

  Priced priced(burst, group, link);
  const std::span<PricedPacket> packets(priced.packets.data(), priced.count);
  const LinkState state = state_of(link, queue);
  const Nanos now = lane.law_time(burst.now);
  if (link.classes > 1) admit_by_class(burst, group, link, priced, state);
  const uint64_t refused = link.law->arrive(lane.index, packets, state, now);
  for_each(static_cast<uint32_t>(refused), [&](unsigned k) {
    packets[k].admitted = false;
    burst.drop(priced.at[k], DropReason::kBadCongestionHeader);
  });
  if (link.judges) carry_out(burst, priced);
  // A packet that goes straight to the port departs as it arrives.
  if (link.departs && egress.hand_off == nullptr)
    depart_at_once(link, lane.index, packets, state, now);
  uint64_t stamped = 0;
  for (unsigned k = 0; k < priced.count; ++k) {
    if (packets[k].header == nullptr || !packets[k].admitted) continue;
    mend(packets[k].header, link.rewritten, priced.before[k]);
    ++stamped;
  }
  egress.shard->stamped.add(stamped);
}

void price_departure(EgressLink& link, const Lane& lane, std::span<const Queued> packets,
                     Nanos now) {
  std::array<PricedPacket, kBurst> priced;
  std::array<uint32_t, kBurst> before;
  for (size_t k = 0; k < packets.size(); ++k) {
    const Queued& q = packets[k];
    priced[k] = {.size = q.size, .opens = q.opens != 0, .queue_class = q.queue_class};
    if (q.congestion == 0) continue;
    priced[k].header = frame_of(q.mbuf) + q.congestion;
    priced[k].flow = flow_of(priced[k].header);
    before[k] = sum_of(priced[k].header, link.rewritten);
  }
  const LinkState state = state_of(link, static_cast<double>(link.queued()));
  link.law->depart(lane.index, std::span(priced.data(), packets.size()), state, lane.law_time(now));
  for (size_t k = 0; k < packets.size(); ++k)
    if (priced[k].header != nullptr) mend(priced[k].header, link.rewritten, before[k]);
}

}  // namespace turnpike::router
