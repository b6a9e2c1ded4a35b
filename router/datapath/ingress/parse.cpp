// SPDX-License-Identifier: BSD-3-Clause
// The parse stage: Ethernet; each layer above has a file of its own.
#include "router/datapath/ingress/parse.h"

#include "common/wire/bytes.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/ingress/parse_eight.h"
#include "router/datapath/ingress/parse_fast.h"
#include "router/datapath/ingress/segments.h"

namespace turnpike::router {

namespace {

// Covers Ethernet, tag, IPv6 or IPv4 with options, UDP and a common header.
constexpr uint32_t kFront = 128;

// Null where the CPU has no vectors for it.
const ParseEight eight_at_a_time = parse_eight();

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
    if (m.data_len < wire::kEthernetSize + wire::kVlanSize) return DropReason::kRunt;
    p.l3 += wire::kVlanSize;
    type = wire::load_be16(frame + wire::kEtherTypeAt + wire::kVlanSize);
    if (station.tagged_port && !wire::is_tag(type)) return DropReason::kUnknownVlan;
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

DropReason parse_fully(rte_mbuf& m, PacketInfo& p, const Tables& tables) {
  p = {.input = p.input};
  DropReason why = parse_ethernet(m, p, tables.stations()[p.input]);
  if (why != DropReason::kNone || p.has(kArp)) return why;
  why = p.has(kIpv6) ? parse_ipv6(m, p, tables) : parse_ipv4(m, p, tables);
  if (why != DropReason::kNone || p.l4_protocol != wire::kProtocolUdp || p.l4 == 0 ||
      p.has(kFragment))
    return why;
  return parse_turnpike(m, p, tables);
}

void parse(Burst& burst, const WorkerContext& context) {
  const Tables& tables = *context.tables;
  const uint16_t input = burst.input;
  const uint16_t port = tables.udp_port();
  const FastStation station(tables, input);
  const auto settle = [&](unsigned i, DropReason why) {
    if (why != DropReason::kNone) {
      burst.drop(i, why);
    } else if (burst.info[i].has(kArp)) {
      burst.move_to(burst.local, i);
    }
  };
  ParsedEight parsed;
  if (eight_at_a_time != nullptr) {
    parsed = eight_at_a_time(burst, station, tables);
    for_each(parsed.to_turnpike, [&](unsigned i) {
      rte_mbuf& m = *burst.mbufs[i];
      PacketInfo& p = burst.info[i];
      if (!usual_turnpike(m, p, tables)) settle(i, parse_turnpike(m, p, tables));
    });
  }
  for_each_dense(first_of(burst.count) & ~(parsed.ipv4 | parsed.ipv6), [&](unsigned i) {
    rte_mbuf& m = *burst.mbufs[i];
    PacketInfo& p = burst.info[i];
    p = {.input = input};
    const FastPath fast =
        parse_fast(m, station, tables, p, burst.destinations4[i], burst.destinations6[i]);
    if (fast == FastPath::kRefused) [[unlikely]] {
      settle(i, parse_fully(m, p, tables));
      parsed.bytes +=
          m.pkt_len - p.l3;  // not `datagram`, which is false in a frame of a wrong length
      return;
    }
    parsed.ipv4 |= uint32_t{fast == FastPath::kIpv4} << i;
    parsed.ipv6 |= uint32_t{fast == FastPath::kIpv6} << i;
    parsed.bytes += p.datagram;
    if (to_turnpike(m, p, port) && !usual_turnpike(m, p, tables))
      settle(i, parse_turnpike(m, p, tables));
  });
  burst.with_ipv4 = parsed.ipv4;
  burst.with_ipv6 = parsed.ipv6;
  burst.bytes = parsed.bytes;
}

}  // namespace turnpike::router
