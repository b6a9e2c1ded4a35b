// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/price.h"

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"

namespace turnpike::router {

namespace {

/// The UDP checksum of a congestion header's packet: the common header lies between them.
uint8_t* checksum_before(uint8_t* congestion) {
  return congestion - wire::kHeaderSize - wire::kUdpSize + wire::kUdpChecksumAt;
}

uint64_t sum_of(const uint8_t* congestion, LinkLaw::Rewritten r) {
  const uint8_t* rewritten = congestion + r.begin;
  if (r.end - r.begin == 4) [[likely]]
    return wire::sum_of_bytes<4>(rewritten);
  return wire::sum_words({rewritten, static_cast<size_t>(r.end - r.begin)});
}

void mend(uint8_t* congestion, LinkLaw::Rewritten r, uint64_t before) {
  uint8_t* at = checksum_before(congestion);
  const uint16_t sum = wire::load_be16(at);
  wire::store_be16(at, wire::update_udp_checksum(sum, before, sum_of(congestion, r)));
}

void depart_at_once(EgressLink& link, unsigned shard, std::span<const PricedPacket> arrived,
                    const LinkState& state, Nanos now) {
  std::array<PricedPacket, kBurst> leaving;
  size_t n = 0;
  for (const PricedPacket& p : arrived)
    if (p.admitted) leaving[n++] = p;
  if (n > 0) link.law->depart(shard, std::span(leaving.data(), n), state, now);
}

}  // namespace

LinkState state_of(const EgressLink& link, double queue) {
  return {.capacity = link.capacity, .queue = queue, .buffer = static_cast<double>(link.buffer)};
}

void price(Burst& burst, LinkGroup& group, Lane& lane) {
  Egress& egress = lane.egress[group.link];
  EgressLink& link = *egress.link;
  const double queue = group.backlog = egress.backlog(burst.now);

  std::array<PricedPacket, kBurst> packets;
  std::array<uint64_t, kBurst> before;
  double room = static_cast<double>(link.buffer) - queue;
  uint64_t stamped = 0, offered = 0;
  for (unsigned k = 0; k < group.count; ++k) {
    const unsigned i = group.members[k];
    const PacketInfo& p = burst.info[i];
    PricedPacket& q = packets[k];
    q = {.size = p.size, .admitted = p.size <= room};
    offered += p.size;
    if (q.admitted) {
      room -= p.size;
    } else {
      burst.drop(i, DropReason::kQueueFull);
    }
    if (p.congestion == 0 || p.protocol != link.protocol) continue;
    q.header = frame_of(burst.mbufs[i]) + p.congestion;
    q.opens = p.has(kOpens);
    before[k] = sum_of(q.header, link.rewritten);
  }
  egress.shard->offered_bytes.add(offered);
  if (!link.law) return;

  const LinkState state = state_of(link, queue);
  const Nanos now = lane.law_time(burst.now);
  const uint64_t refused =
      link.law->arrive(lane.index, std::span(packets.data(), group.count), state, now);
  for_each(static_cast<uint32_t>(refused), [&](unsigned k) {
    packets[k].admitted = false;
    burst.drop(group.members[k], DropReason::kBadCongestionHeader);
  });
  // A packet that goes straight to the port departs as it arrives.
  if (link.departs && egress.hand_off == nullptr)
    depart_at_once(link, lane.index, {packets.data(), group.count}, state, now);
  for (unsigned k = 0; k < group.count; ++k) {
    if (packets[k].header == nullptr || !packets[k].admitted) continue;
    mend(packets[k].header, link.rewritten, before[k]);
    ++stamped;
  }
  egress.shard->stamped.add(stamped);
}

void price_departure(EgressLink& link, const Lane& lane, std::span<const Queued> packets,
                     Nanos now) {
  std::array<PricedPacket, kBurst> priced;
  std::array<uint64_t, kBurst> before;
  for (size_t k = 0; k < packets.size(); ++k) {
    const Queued& q = packets[k];
    priced[k] = {.size = q.size, .opens = q.opens != 0};
    if (q.congestion == 0) continue;
    priced[k].header = frame_of(q.mbuf) + q.congestion;
    before[k] = sum_of(priced[k].header, link.rewritten);
  }
  const LinkState state = state_of(link, static_cast<double>(link.queued()));
  link.law->depart(lane.index, std::span(priced.data(), packets.size()), state, lane.law_time(now));
  for (size_t k = 0; k < packets.size(); ++k)
    if (priced[k].header != nullptr) mend(priced[k].header, link.rewritten, before[k]);
}

}  // namespace turnpike::router
