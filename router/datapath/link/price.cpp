// SPDX-License-Identifier: BSD-3-Clause
// Fifth stage: admits packets to the link's queue and has the link's law stamp them.
#include <algorithm>
#include <new>

#include "router/datapath/link/checksum_range.h"
#include "router/datapath/link/ecn.h"
#include "router/datapath/link/link_queue.h"
#include "router/datapath/scratch.h"

namespace turnpike::router {

namespace {

/// Without a law: admits packets in order while they fit. Returns the bytes offered.
uint64_t admit_plain(Burst& burst, uint32_t members, const LinkState& state) {
  uint64_t offered = 0;
  for_each_dense(members, [&](unsigned i) { offered += burst.info[i].size; });
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

/// A link's packets as the law sees them: packet k is the k-th of the members.
struct LawBatch {
  unsigned count = 0;
  uint64_t bytes = 0;  // of all members on the link
  Scratch<LinkPacket> packets;
  std::array<uint64_t, kBurst> before;  // checksum sums of the bytes that the law may rewrite

  LawBatch(const Burst& burst, uint32_t members, const EgressLink& link) {
    with_sum(link.traits.rewritten, [&](auto sum) { gather(burst, members, link.protocol, sum); });
  }

  [[nodiscard]] std::span<LinkPacket> span() { return {packets.of.data(), count}; }

  /// Sets the groups of packets with a header; those without one spend no money. `groups`: by
  /// customer.
  void set_groups(const Burst& burst, uint32_t members, const uint16_t* groups) {
    unsigned k = 0;
    for_each(members, [&](unsigned i) {
      if (packets.of[k].header != nullptr) packets.of[k].group = groups[burst.info[i].customer];
      ++k;
    });
  }

  void set_flows() {
    for (LinkPacket& p : span())
      if (p.header != nullptr) p.flow = flow_hash(p.header);
  }

  /// Updates the UDP checksums of stamped packets; returns their number.
  [[nodiscard]] uint64_t update_checksums(HeaderRange rewritten) const {
    return with_sum(rewritten, [&](auto sum) { return update_each(sum); });
  }

 private:
  // Uses a copy of `protocol` and local totals: a store to a packet may alias any member.
  template <class Sum>
  void gather(const Burst& burst, uint32_t members, uint8_t protocol, Sum&& sum) {
    unsigned k = 0;
    uint64_t total = 0;
    for_each(members, [&](unsigned i) {
      const PacketInfo& p = burst.info[i];
      uint8_t* header = nullptr;
      if (p.congestion != 0 && p.protocol == protocol) {
        header = frame_of(burst.mbufs[i]) + p.congestion;
        before[k] = sum(header);
      }
      new (&packets.of[k]) LinkPacket{.header = header, .size = p.size, .opens = p.has(kOpens)};
      total += p.size;
      ++k;
    });
    count = k;
    bytes = total;
  }

  template <class Sum>
  [[nodiscard]] uint64_t update_each(Sum&& sum) const {
    const unsigned n = count;
    uint64_t stamped = 0;
    for (unsigned k = 0; k < n; ++k) {
      const LinkPacket& p = packets.of[k];
      if (p.header == nullptr || !p.admitted) continue;
      update_checksum(p.header, before[k], sum(p.header));
      ++stamped;
    }
    return stamped;
  }
};

/// Calls f(packet, i) for each member of a group, i its place in the burst.
template <class F>
void for_each_of(LawBatch& batch, uint32_t members, F&& f) {
  unsigned k = 0;
  for_each(members, [&](unsigned i) { f(batch.packets.of[k++], i); });
}

/// Admits packets under a law; each class has a buffer of its own.
void admit(Burst& burst, PricedGroup& group, const EgressLink& link, LawBatch& batch,
           const LinkState& state) {
  const unsigned classes = link.traits.classes;
  std::array<double, kMaxClasses> room;
  room[0] = state.buffer - state.queue;
  for (unsigned c = 0; c < classes && classes > 1; ++c) room[c] = state.buffer - state.queues[c];
  if (link.classifier) {
    for (unsigned c = 0; c < classes; ++c)
      room[c] += link.class_buffer[c] - static_cast<double>(link.buffer);
    link.classifier->classify(burst, group.members, link.protocol, group.classes);
  }
  for_each_of(batch, group.members, [&](LinkPacket& p, unsigned i) {
    const unsigned c = classes == 1       ? 0
                       : !link.classifier ? std::min(link.law->classify(p), classes - 1)
                                          : group.classes[i];
    group.classes[i] = p.queue_class = static_cast<uint8_t>(c);
    p.admitted = p.size <= room[c];
    if (p.admitted) {
      room[c] -= p.size;
    } else {
      burst.drop(i, DropReason::kQueueFull);
    }
  });
}

/// Applies the AQM actions of the law. Drops a packet that cannot be marked (RFC 3168 section 5).
/// ARP passes: it belongs to no flow that could slow down.
void apply_actions(Burst& burst, uint32_t members, LawBatch& batch) {
  for_each_of(batch, members, [&](LinkPacket& p, unsigned i) {
    if (p.action == AqmAction::kPass || !p.admitted) return;
    const PacketInfo& info = burst.info[i];
    if (info.has(kArp)) return;
    if (p.action == AqmAction::kSignal &&
        mark_congestion(frame_of(burst.mbufs[i]) + info.l3, info.has(kIpv6)))
      return;
    p.admitted = false;
    burst.drop(i, DropReason::kEarlyDrop);
  });
}

/// Drops packets whose headers the law refused: bit k of `refused` is packet k.
void refuse(Burst& burst, uint32_t members, LawBatch& batch, uint64_t refused) {
  for_each_of(batch, members, [&](LinkPacket& p, unsigned i) {
    if ((refused & 1) != 0) {
      p.admitted = false;
      burst.drop(i, DropReason::kBadCongestionHeader);
    }
    refused >>= 1;
  });
}

/// Copies classes that the law changed. Drops packets for which the new class has no room.
void reclassify(Burst& burst, PricedGroup& group, LawBatch& batch) {
  for_each_of(batch, group.members, [&](const LinkPacket& p, unsigned i) {
    group.classes[i] = p.queue_class;
    if (!p.admitted && (burst.forward >> i & 1) != 0) burst.drop(i, DropReason::kQueueFull);
  });
}

/// Runs the departure hook on the packets of a batch that were admitted.
void depart_at_once(EgressLink& link, unsigned worker, LawBatch& batch, const LinkState& state,
                    Nanos now) {
  Scratch<LinkPacket> leaving;
  size_t n = 0;
  for (const LinkPacket& p : batch.span())
    if (p.admitted) {
      leaving.of[n] = p;
      if (p.header != nullptr) leaving.of[n].flow = flow_hash(p.header);
      ++n;
    }
  if (n > 0) link.law->depart(worker, std::span(leaving.of.data(), n), state, now);
}

}  // namespace

PricedGroup LinkQueue::price(Burst& burst, const LinkGroup& group) {
  PricedGroup priced;
  priced.members = group.members;
  LinkState state = observe(burst.now);
  priced.backlog = state.queue;
  if (owed_ > 0_ns && link_.drain == config::Drain::kShaped) [[unlikely]]
    state.buffer += to_seconds(owed_) * link_.capacity;  // carried during the stall
  if (!link_.law) {
    priced.bytes = admit_plain(burst, group.members, state);
    shard_.offered_bytes.add(priced.bytes);
    if (owed_ > 0_ns) [[unlikely]]
      fill_gap(priced.bytes);
    return priced;
  }
  LawBatch batch(burst, group.members, link_);
  if (link_.groups != nullptr) [[unlikely]]
    batch.set_groups(burst, group.members, link_.groups);
  if (link_.traits.flows) [[unlikely]]
    batch.set_flows();
  priced.bytes = batch.bytes;
  shard_.offered_bytes.add(priced.bytes);
  if (owed_ > 0_ns) [[unlikely]]
    fill_gap(priced.bytes);
  if (link_.traits.classes > 1 || static_cast<double>(priced.bytes) > state.buffer - state.queue)
    admit(burst, priced, link_, batch, state);

  const Nanos now = law_time(burst.now);
  const uint64_t refused = link_.law->arrive(worker_, batch.span(), state, now);
  if (refused != 0) [[unlikely]]
    refuse(burst, group.members, batch, refused);
  if (link_.traits.classes > 1) reclassify(burst, priced, batch);
  if (link_.traits.marks_or_drops) apply_actions(burst, group.members, batch);
  // Packets sent straight to the port depart as they arrive.
  if (link_.traits.wants_dequeue && ring_ == nullptr)
    depart_at_once(link_, worker_, batch, state, now);
  shard_.stamped.add(batch.update_checksums(link_.traits.rewritten));
  return priced;
}

}  // namespace turnpike::router
