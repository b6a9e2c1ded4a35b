// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/punt/punt.h"

#include <optional>

#include "common/wire/bytes.h"
#include "router/datapath/ingress/ip.h"

namespace turnpike::router {

namespace {

constexpr uint16_t kEtherTypeLldp = 0x88cc;    // IEEE 802.1AB
constexpr uint16_t kMaxLlcLength = 1500;       // IEEE 802.3: a length, not an EtherType
constexpr uint16_t kOsiSaps = 0xfefe;          // LLC's DSAP and SSAP of IS-IS (ISO 10589)
constexpr uint8_t kMinNd = 133, kMaxNd = 137;  // ICMPv6 types of RFC 4861
constexpr uint32_t kLimitedBroadcast = 0xffffffff;

/// A burst's packets in view of the control plane.
class Sorter {
 public:
  Sorter(const Burst& burst, const WorkerContext& context)
      : burst_(burst), context_(context), groups_(context.groups->links[burst.input]) {}

  /// The class of a packet to the router itself; none: it is none that Linux takes.
  [[nodiscard]] std::optional<PuntClass> local_class(unsigned i) const {
    const PacketInfo& p = burst_.info[i];
    if (p.has(kArp)) return PuntClass::kNeighbour;
    if (!p.has(kIpv6)) return PuntClass::kLocal;
    if (p.l4_protocol == kIcmp6 && p.l4 != 0 && p.l4 < burst_.mbufs[i]->data_len) {
      const uint8_t type = frame_of(burst_.mbufs[i])[p.l4];
      if (type >= kMinNd && type <= kMaxNd) return PuntClass::kNeighbour;
    }
    if (is_multicast(ip_of(i) + wire::kIpv6DestinationAt)) return multicast_class(i);
    return PuntClass::kLocal;
  }

  /// The class of a packet that is not forwarded; none: it is dropped.
  [[nodiscard]] std::optional<PuntClass> dropped_class(unsigned i) const {
    switch (burst_.reason[i]) {
      case DropReason::kMulticast:
        return multicast_class(i);
      case DropReason::kUnknownEthertype:
        return frame_class(i);
      case DropReason::kLinkLocal:
        return link_local_class(i);
      case DropReason::kBroadcast:
      case DropReason::kMartianSource:
        return broadcast_class(i);
      case DropReason::kTtlExpired:
        if (context_.punt->punts_ttl()) return PuntClass::kTtl;
        return {};
      default:
        return {};
    }
  }

 private:
  [[nodiscard]] const uint8_t* ip_of(unsigned i) const {
    return frame_of(burst_.mbufs[i]) + burst_.info[i].l3;
  }

  // Groups of link scope: RFC 5771 section 4, RFC 4291 2.7.
  [[nodiscard]] std::optional<PuntClass> multicast_class(unsigned i) const {
    if (burst_.info[i].has(kIpv6)) {
      const config::Ipv6 group = load_ipv6(ip_of(i) + wire::kIpv6DestinationAt);
      if (group[0] == 0xff && group[1] == 0x02) return PuntClass::kRouting;
      if (groups_.has(group)) return PuntClass::kOther;
      return {};
    }
    const uint32_t group = wire::load_be32(ip_of(i) + wire::kIpv4DestinationAt);
    if (group >> 8 == 0xe00000) return PuntClass::kRouting;
    if (groups_.has(group)) return PuntClass::kOther;
    return {};
  }

  [[nodiscard]] std::optional<PuntClass> frame_class(unsigned i) const {
    const rte_mbuf& m = *burst_.mbufs[i];
    const uint32_t l3 = burst_.info[i].l3;
    const uint8_t* frame = rte_pktmbuf_mtod(&m, const uint8_t*);
    const uint16_t type = wire::load_be16(frame + l3 - 2);
    if (type == kEtherTypeLldp) return PuntClass::kOther;
    if (type <= kMaxLlcLength && m.data_len >= l3 + 2 && wire::load_be16(frame + l3) == kOsiSaps)
      return PuntClass::kRouting;
    return {};
  }

  // To an address of the link, which Linux knows and the tables do not; or from one to the router.
  [[nodiscard]] std::optional<PuntClass> link_local_class(unsigned i) const {
    if (burst_.info[i].has(kIpv6)) {
      if (is_link_local(ip_of(i) + wire::kIpv6DestinationAt)) return PuntClass::kLocal;
      return {};
    }
    const uint32_t to = wire::load_be32(ip_of(i) + wire::kIpv4DestinationAt);
    if (to >> 16 == 0xa9fe || context_.tables->own(to)) return PuntClass::kLocal;
    return {};
  }

  // DHCP's broadcasts come from 0.0.0.0 or from an address.
  [[nodiscard]] std::optional<PuntClass> broadcast_class(unsigned i) const {
    if (burst_.info[i].has(kIpv6)) return {};
    if (wire::load_be32(ip_of(i) + wire::kIpv4DestinationAt) != kLimitedBroadcast) return {};
    const bool martian = burst_.reason[i] == DropReason::kMartianSource;
    if (martian && wire::load_be32(ip_of(i) + wire::kIpv4SourceAt) != 0) return {};
    return PuntClass::kOther;
  }

  const Burst& burst_;
  const WorkerContext& context_;
  const JoinedGroups::OnLink& groups_;
};

void hand_over(Burst& burst, unsigned i, PuntClass of, PuntShard& shard) {
  const auto k = static_cast<size_t>(of);
  rte_mbuf* m = burst.mbufs[i];
  if (!shard.buckets[burst.info[i].input][k].take(burst.now)) {
    shard.limited[k].add();
    return burst.drop(i, DropReason::kPuntRate);
  }
  if (shard.to_linux->free_slots() == 0) {
    shard.dropped[k].add();
    return burst.drop(i, DropReason::kPuntQueue);
  }
  m->port = burst.info[i].input;
  shard.punted[k].add();  // before the punt thread can count it
  burst.leave(i);
  shard.to_linux->push(m);
}

}  // namespace

void punt(Burst& burst, WorkerContext& context) {
  PuntShard& shard = context.punt->shard(context.index);
  const Sorter sorter(burst, context);
  for_each(burst.unresolved, [&](unsigned i) {
    if (shard.waiting->add(burst.mbufs[i], burst.info[i], burst.now)) return burst.leave(i);
    burst.drop(i, DropReason::kNeighbourQueue);
  });
  for_each(burst.dropped, [&](unsigned i) {
    if (const auto of = sorter.dropped_class(i)) hand_over(burst, i, *of, shard);
  });
  for_each(burst.local, [&](unsigned i) {
    if (const auto of = sorter.local_class(i)) return hand_over(burst, i, *of, shard);
    burst.drop(i, DropReason::kMulticast);
  });
}

}  // namespace turnpike::router
