// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/vlan/vlan_trunk.h"

#include <algorithm>
#include <cstring>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "common/dpdk/buffer.h"
#include "common/wire/bytes.h"
#include "common/wire/layers.h"

namespace turnpike::router {
namespace {

constexpr uint16_t kNoLink = UINT16_MAX;
constexpr size_t kTaggedSize = wire::kEthernetSize + wire::kVlanSize;

uint8_t* frame_at(rte_mbuf* m) { return rte_pktmbuf_mtod(m, uint8_t*); }

uint16_t type_of(rte_mbuf* m) { return wire::load_be16(frame_at(m) + wire::kEtherTypeAt); }

/// Moves a frame's MAC addresses; both places may overlap. Cheaper than a call of memmove().
void move_macs(const uint8_t* from, uint8_t* to) {
  uint64_t front;
  uint32_t rest;
  static_assert(sizeof front + sizeof rest == wire::kEtherTypeAt);
  std::memcpy(&front, from, sizeof front);
  std::memcpy(&rest, from + sizeof front, sizeof rest);
  std::memcpy(to, &front, sizeof front);
  std::memcpy(to + sizeof front, &rest, sizeof rest);
}

/// Writes a tag after the MAC addresses. False: the buffer has no room for it.
bool insert_tag(rte_mbuf* m, uint16_t control) {
  const uint8_t* const old = frame_at(m);
  auto* const frame = reinterpret_cast<uint8_t*>(rte_pktmbuf_prepend(m, wire::kVlanSize));
  if (frame == nullptr) return false;
  move_macs(old, frame);
  wire::store_be16(frame + wire::kEtherTypeAt, wire::kEtherTypeVlan);
  wire::store_be16(frame + wire::kEthernetSize, control);
  return true;
}

void remove_tag(rte_mbuf* m) {
  uint8_t* const frame = frame_at(m);
  move_macs(frame, frame + wire::kVlanSize);
  rte_pktmbuf_adj(m, wire::kVlanSize);
}

/// Marks a frame that has no room for a tag: no receiver takes the EtherType, a reserved one.
void spoil(rte_mbuf* m) { wire::store_be16(frame_at(m) + wire::kEtherTypeAt, 0xffff); }

bool is_tagged(rte_mbuf* m) {
  return m->data_len >= kTaggedSize && type_of(m) == wire::kEtherTypeVlan;
}

}  // namespace

VlanTrunk::VlanTrunk(QueuePair& port, std::span<const Member> links) : port_(port) {
  by_vid_.fill(kNoLink);
  links_.reserve(links.size());
  for (const Member& member : links) {
    by_vid_[member.vid & wire::kVidMask] = static_cast<uint16_t>(links_.size());
    links_.emplace_back(*this, member);
  }
  if (by_vid_[kUntagged] != kNoLink) rest_ = by_vid_[kUntagged];
}

VlanTrunk::~VlanTrunk() {
  for (Link& l : links_)
    while (l.waiting() > 0) give_back(l.take());
}

bool VlanTrunk::has_room() const {
  return std::ranges::all_of(links_,
                             [](const Link& l) { return l.waiting() + kBurst <= kMaxWaiting; });
}

void VlanTrunk::receive(const Link& link, size_t wanted, Nanos now) {
  std::array<rte_mbuf*, kBurst> burst;
  while (link.waiting() < wanted && now != empty_at_ && has_room()) {
    const uint16_t n = port_.rx(now, burst);
    for (uint16_t i = 0; i < n; ++i) sort(burst[i]);
    waiting_ += n;
    // The other links are polled at the same time: the port has nothing for them either.
    empty_at_ = n < kBurst ? now : kNever;
  }
}

// The length of a frame and its tags are checked here, all else by the receiver.
void VlanTrunk::sort(rte_mbuf* m) {
  Link& rest = links_[rest_];
  if (m->data_len < wire::kEthernetSize) return rest.put(m);
  // A driver that has taken the tag off, as the kernel does.
  if ((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0) {
    m->ol_flags &= ~(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED);
    const uint16_t own = by_vid_[m->vlan_tci & wire::kVidMask];
    if (own != kNoLink && !wire::is_tag(type_of(m))) return links_[own].put(m);
    if (!insert_tag(m, m->vlan_tci)) spoil(m);
    return rest.put(m);
  }
  if (type_of(m) != wire::kEtherTypeVlan) {
    if (by_vid_[kUntagged] == kNoLink && !insert_tag(m, kUntagged)) spoil(m);
    return rest.put(m);
  }
  if (m->data_len < kTaggedSize) return rest.put(m);
  const uint8_t* const tag = frame_at(m) + wire::kEthernetSize;
  const uint16_t own = by_vid_[wire::load_be16(tag) & wire::kVidMask];
  if (own == kNoLink || wire::is_tag(wire::load_be16(tag + 2))) return rest.put(m);
  remove_tag(m);
  links_[own].put(m);
}

void VlanTrunk::Link::put(rte_mbuf* m) {
  m->port = member_.mbuf_port;
  slots_[end_++ % kMaxWaiting] = m;
}

uint16_t VlanTrunk::Link::rx(Nanos now, std::span<rte_mbuf*> out) {
  if (waiting() < out.size()) trunk_.receive(*this, out.size(), now);
  const auto n = static_cast<uint16_t>(std::min<size_t>(waiting(), out.size()));
  for (uint16_t i = 0; i < n; ++i) out[i] = take();
  trunk_.waiting_ -= n;
  return n;
}

// A frame with a tag, of another port's VLAN, gets this one's instead.
uint16_t VlanTrunk::Link::tx(Nanos now, std::span<rte_mbuf*> burst) {
  if (member_.vid == kUntagged) return trunk_.port_.tx(now, burst);
  size_t tagged = 0;
  while (tagged < burst.size()) {
    rte_mbuf* const m = burst[tagged];
    if (is_tagged(m)) {
      wire::store_be16(frame_at(m) + wire::kEthernetSize, member_.vid);
    } else if (!insert_tag(m, member_.vid)) {
      break;
    }
    ++tagged;
  }
  const uint16_t sent = trunk_.port_.tx(now, burst.first(tagged));
  for (size_t i = sent; i < tagged; ++i) remove_tag(burst[i]);
  // Received frames and those of this program have headroom, so this is a driver's oddity.
  if (sent == tagged && tagged < burst.size()) {
    give_back(burst[tagged]);
    trunk_.without_room_.add();
    return static_cast<uint16_t>(sent + 1);
  }
  return sent;
}

Nanos VlanTrunk::Link::next_deadline() const {
  return trunk_.waiting_ > 0 ? Nanos(0) : trunk_.port_.next_deadline();
}

}  // namespace turnpike::router
