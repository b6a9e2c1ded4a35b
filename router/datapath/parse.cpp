// SPDX-License-Identifier: BSD-3-Clause
// The parse stage: Ethernet here, each further layer in a file of its own.
#include "router/datapath/parse.h"

#include <rte_prefetch.h>

#include "common/wire/bytes.h"
#include "router/datapath/ip.h"
#include "router/datapath/segments.h"

namespace turnpike::router {

namespace {

// Ethernet, tag, IPv6 or IPv4 with options, UDP and a common header lie within this.
constexpr uint32_t kFront = 128;

DropReason parse_packet(rte_mbuf& m, PacketInfo& p, const Lane& lane) {
  DropReason why = parse_ethernet(m, p, lane.tables->stations()[p.input]);
  if (why != DropReason::kNone || p.has(kArp)) return why;
  why = p.has(kIpv6) ? parse_ipv6(m, p, *lane.tables) : parse_ipv4(m, p, *lane.tables);
  if (why != DropReason::kNone) return why;
  if (p.l4_protocol != wire::kProtocolUdp || p.l4 == 0 || p.has(kFragment)) return why;
  return parse_turnpike(m, p, *lane.tables);
}

}  // namespace

DropReason parse_ethernet(rte_mbuf& m, PacketInfo& p, const Station& station) {
  if (m.pkt_len < wire::kEthernetSize) return DropReason::kRunt;
  if (m.data_len < m.pkt_len && !join_front(&m, kFront)) return DropReason::kScatteredHeaders;
  const uint8_t* frame = frame_of(&m);
  if ((frame[0] & 1) != 0) {
    p.flags |= kLinkCast;
  } else if (std::memcmp(frame, station.mac.data(), station.mac.size()) != 0) {
    return DropReason::kNotForUs;
  }
  uint16_t type = wire::load_be16(frame + wire::kEtherTypeAt);
  p.l3 = wire::kEthernetSize;
  if (type == wire::kEtherTypeVlan) {
    p.flags |= kVlan;
    p.l3 += wire::kVlanSize;
    if (m.data_len < p.l3) return DropReason::kRunt;
    type = wire::load_be16(frame + wire::kEtherTypeAt + wire::kVlanSize);
  }
  switch (type) {
    case wire::kEtherTypeIpv4:
      return DropReason::kNone;
    case wire::kEtherTypeIpv6:
      p.flags |= kIpv6;
      return DropReason::kNone;
    case kEtherTypeArp:
      p.flags |= kArp;
      return DropReason::kNone;
    default:
      return DropReason::kUnknownEthertype;
  }
}

void parse(Burst& burst, const Lane& lane) {
  for (unsigned i = 0; i < burst.count; ++i) rte_prefetch0(frame_of(burst.mbufs[i]));
  for_each(burst.forward, [&](unsigned i) {
    PacketInfo& p = burst.info[i];
    const DropReason why = parse_packet(*burst.mbufs[i], p, lane);
    if (why != DropReason::kNone) {
      burst.drop(i, why);
    } else if (p.has(kArp)) {
      burst.move_to(burst.local, i);
    }
  });
}

}  // namespace turnpike::router
