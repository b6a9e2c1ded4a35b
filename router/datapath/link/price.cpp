// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/link/price.h"

#include <algorithm>
#include <new>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/link/ecn.h"

namespace turnpike::router {

namespace {

/// The UDP checksum of a congestion header's packet: the common header lies between them.
uint8_t* checksum_before(uint8_t* congestion) {
  return congestion - wire::kHeaderSize - wire::kUdpSize + wire::kUdpChecksumAt;
}

// In host order: one's complement sums are the same in either (RFC 1071 section 2(B)).
uint32_t word_of(const uint8_t* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Of so many words. Each is loaded by itself, for the law may just have written some of them.
template <size_t Words>
uint32_t sum_of_words(const uint8_t* bytes) {
  uint64_t sum = word_of(bytes);
  for (size_t w = 1; w < Words; ++w) sum += word_of(bytes + w * sizeof(uint32_t));
  return Words == 1 ? static_cast<uint32_t>(sum) : wire::fold_to_32(sum);
}

// `f` of how a header's rewritten bytes are summed: of the usual widths without a loop.
template <class F>
auto with_sum(LinkLaw::Rewritten r, F&& f) {
  const uint8_t at = r.begin;
  switch (r.end - r.begin) {
    case 4:
      return f([at](const uint8_t* congestion) { return sum_of_words<1>(congestion + at); });
    case 12:
      return f([at](const uint8_t* congestion) { return sum_of_words<3>(congestion + at); });
    default:
      return f([r](const uint8_t* congestion) -> uint32_t {
        return __builtin_bswap16(
            wire::sum_words({congestion + r.begin, static_cast<size_t>(r.end - r.begin)}));
      });
  }
}

uint32_t sum_of(const uint8_t* congestion, LinkLaw::Rewritten r) {
  return with_sum(r, [congestion](auto sum) { return sum(congestion); });
}

void mend(uint8_t* congestion, uint32_t before, uint32_t after) {
  uint8_t* at = checksum_before(congestion);
  uint16_t sum;
  std::memcpy(&sum, at, sizeof sum);
  sum = wire::update_udp_checksum(sum, before, after);
  std::memcpy(at, &sum, sizeof sum);
}

// Without a law there is nothing to look at but sizes. The buffer takes packets in order as long as
// they fit. Returns the bytes offered.
uint64_t admit_plain(Burst& burst, uint32_t members, const LinkState& state) {
  uint64_t offered = 0;
  for_each(members, [&](unsigned i) { offered += burst.info[i].size; });
  double room = state.buffer - state.queue;
  if (static_cast<double>(offered) <= room) [[likely]]
    return offered;
  for_each(members, [&](unsigned i) {
    const double size = burst.info[i].size;
    if (size <= room) {
      room -= size;
    } else {
      burst.drop(i, DropReason::kQueueFull);
    }
  });
  return offered;
}

// The law's view of a group: packet k of it is the k-th of the group's members.
struct Priced {
  unsigned count = 0;
  union {  // not made before there is something to put there
    std::array<LinkPacket, kBurst> packets;
  };
  std::array<uint32_t, kBurst> before;  // sums of what the law may rewrite

  /// Counts the group's bytes on the way.
  Priced(const Burst& burst, LinkGroup& group, const EgressLink& link) {
    with_sum(link.rewritten, [&](auto sum) { gather(burst, group, link.protocol, sum); });
  }

  /// Mends the checksums of what the law stamped; returns how many those are.
  [[nodiscard]] uint64_t mend_all(LinkLaw::Rewritten rewritten) const {
    return with_sum(rewritten, [&](auto sum) { return mend_each(sum); });
  }

 private:
  // `protocol` is a copy, since the compiler takes any byte of a packet for one of the link's; so
  // are the counts below.
  template <class Sum>
  void gather(const Burst& burst, LinkGroup& group, uint8_t protocol, Sum&& sum) {
    unsigned k = 0;
    uint64_t bytes = 0;
    for_each(group.members, [&](unsigned i) {
      const PacketInfo& p = burst.info[i];
      uint8_t* header = nullptr;
      if (p.congestion != 0 && p.protocol == protocol) {
        header = frame_of(burst.mbufs[i]) + p.congestion;
        before[k] = sum(header);
      }
      new (&packets[k]) LinkPacket{.header = header, .size = p.size, .opens = p.has(kOpens)};
      bytes += p.size;
      ++k;
    });
    count = k;
    group.bytes = bytes;
  }

  template <class Sum>
  [[nodiscard]] uint64_t mend_each(Sum&& sum) const {
    const unsigned n = count;
    uint64_t stamped = 0;
    for (unsigned k = 0; k < n; ++k) {
      const LinkPacket& p = packets[k];
      if (p.header == nullptr || !p.admitted) continue;
      mend(p.header, before[k], sum(p.header));
      ++stamped;
    }
    return stamped;
  }
};

// Calls f(packet, i) for each of a group with its place in the burst.
template <class F>
void for_each_of(Priced& priced, uint32_t members, F&& f) {
  unsigned k = 0;
  for_each(members, [&](unsigned i) { f(priced.packets[k++], i); });
}

/// A number for the packet's flow, so that two senders' first flows differ: what its header names,
/// its ports, and what IPv4's source address is there, or a part of IPv6's destination.
uint32_t flow_of(const uint8_t* congestion) {
  const uint8_t* common = congestion - wire::kHeaderSize;
  const uint8_t* udp = common - wire::kUdpSize;
  const uint32_t ends = wire::load_be32(udp - 8) * 2654435761U ^ wire::load_be32(udp) * 2246822519U;
  return ends ^ wire::load_be32(common + wire::kFlowAt);
}

void depart_at_once(EgressLink& link, unsigned shard, std::span<const LinkPacket> arrived,
                    const LinkState& state, Nanos now) {
  std::array<LinkPacket, kBurst> leaving;
  size_t n = 0;
  for (const LinkPacket& p : arrived)
    if (p.admitted) {
      leaving[n] = p;
      if (p.header != nullptr) leaving[n].flow = flow_of(p.header);
      ++n;
    }
  if (n > 0) link.law->depart(shard, std::span(leaving.data(), n), state, now);
}

/// The same under a law: each class has the whole buffer.
void admit(Burst& burst, LinkGroup& group, const EgressLink& link, Priced& priced,
           const LinkState& state) {
  std::array<double, kMaxClasses> room;
  room[0] = state.buffer - state.queue;
  for (unsigned c = 0; c < kMaxClasses && link.classes > 1; ++c)
    room[c] = state.buffer - state.queues[c];
  for_each_of(priced, group.members, [&](LinkPacket& p, unsigned i) {
    const unsigned c = link.classes > 1 ? std::min(link.law->classify(p), link.classes - 1) : 0;
    group.classes[i] = p.queue_class = static_cast<uint8_t>(c);
    p.admitted = p.size <= room[c];
    if (p.admitted) {
      room[c] -= p.size;
    } else {
      burst.drop(i, DropReason::kQueueFull);
    }
  });
}

/// RFC 3168 section 5: what cannot be marked is dropped.
void carry_out(Burst& burst, uint32_t members, Priced& priced) {
  for_each_of(priced, members, [&](LinkPacket& p, unsigned i) {
    if (p.action == AqmAction::kPass || !p.admitted) return;
    const PacketInfo& info = burst.info[i];
    if (info.has(kArp)) return;  // no flow's: nobody would slow down
    if (p.action == AqmAction::kSignal &&
        mark_congestion(frame_of(burst.mbufs[i]) + info.l3, info.has(kIpv6)))
      return;
    p.admitted = false;
    burst.drop(i, DropReason::kEarlyDrop);
  });
}

/// Drops those whose headers the law does not believe: bit k of `refused` is packet k.
void refuse(Burst& burst, uint32_t members, Priced& priced, uint64_t refused) {
  for_each_of(priced, members, [&](LinkPacket& p, unsigned i) {
    if ((refused & 1) != 0) {
      p.admitted = false;
      burst.drop(i, DropReason::kBadCongestionHeader);
    }
    refused >>= 1;
  });
}

}  // namespace

LinkState state_of(const EgressLink& link, double queue) {
  LinkState s{
      .capacity = link.capacity, .queue = queue, .buffer = static_cast<double>(link.buffer)};
  if (link.classes > 1)
    for (unsigned c = 0; c < link.classes; ++c) s.queues[c] = link.queued_of(c);
  return s;
}

void price(Burst& burst, LinkGroup& group, WorkerContext& context) {
  Egress& egress = context.egress[group.link];
  EgressLink& link = *egress.link;
  LinkState state = state_of(link, egress.backlog(burst.now));
  group.backlog = state.queue;
  if (egress.owed > 0_ns && link.drain == config::Drain::kShaped) [[unlikely]]
    state.buffer += egress.not_carried();
  if (!link.law) {
    group.bytes = admit_plain(burst, group.members, state);
    egress.shard->offered_bytes.add(group.bytes);
    if (egress.owed > 0_ns) [[unlikely]]
      egress.make_up(group.bytes);
    return;
  }
  Priced priced(burst, group, link);
  egress.shard->offered_bytes.add(group.bytes);
  if (egress.owed > 0_ns) [[unlikely]]
    egress.make_up(group.bytes);
  if (link.classes > 1 || static_cast<double>(group.bytes) > state.buffer - state.queue)
    admit(burst, group, link, priced, state);

  const std::span<LinkPacket> packets(priced.packets.data(), priced.count);
  const Nanos now = egress.law_time(burst.now);
  const uint64_t refused = link.law->arrive(context.index, packets, state, now);
  if (refused != 0) [[unlikely]]
    refuse(burst, group.members, priced, refused);
  if (link.marks_or_drops) carry_out(burst, group.members, priced);
  // A packet that goes straight to the port departs as it arrives.
  if (link.wants_dequeue && egress.ring == nullptr)
    depart_at_once(link, context.index, packets, state, now);
  egress.shard->stamped.add(priced.mend_all(link.rewritten));
}

void price_departure(const Egress& egress, unsigned worker, std::span<const QueuedPacket> packets,
                     Nanos now) {
  EgressLink& link = *egress.link;
  std::array<LinkPacket, kBurst> priced;
  std::array<uint32_t, kBurst> before;
  for (size_t k = 0; k < packets.size(); ++k) {
    const QueuedPacket& q = packets[k];
    priced[k] = {.size = q.size, .opens = q.opens != 0, .queue_class = q.queue_class};
    if (q.congestion == 0) continue;
    priced[k].header = frame_of(q.mbuf) + q.congestion;
    priced[k].flow = flow_of(priced[k].header);
    before[k] = sum_of(priced[k].header, link.rewritten);
  }
  const LinkState state = state_of(link, static_cast<double>(link.queued()));
  link.law->depart(worker, std::span(priced.data(), packets.size()), state, egress.law_time(now));
  for (size_t k = 0; k < packets.size(); ++k)
    if (priced[k].header != nullptr)
      mend(priced[k].header, before[k], sum_of(priced[k].header, link.rewritten));
}

}  // namespace turnpike::router
