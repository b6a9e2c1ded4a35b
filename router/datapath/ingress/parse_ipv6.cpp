// SPDX-License-Identifier: BSD-3-Clause
// IPv6 validation by RFC 8200, addresses by RFC 4291.
#include "common/wire/bytes.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/ingress/parse.h"
#include "router/datapath/ingress/segments.h"

namespace turnpike::router {

namespace {

constexpr unsigned kMaxExtensions = 8;  // more than RFC 8200 4.1 uses

// Walks the extension headers up to the transport header. Drops chains that leave the first segment
// or the datagram. Later fragments have no transport header.
DropReason skip_extensions(const rte_mbuf& m, const uint8_t* frame, PacketInfo& p, uint8_t next) {
  const uint32_t end = std::min<uint32_t>(m.data_len, uint32_t{p.l3} + p.datagram);
  uint32_t at = p.l3 + wire::kIpv6Size;
  for (unsigned n = 0; is_extension(next); ++n) {
    if (n == kMaxExtensions || at + 8 > end) return DropReason::kBadExtension;
    const uint8_t* e = frame + at;
    uint32_t size = (e[1] + 1U) * 8;
    if (next == kAuthentication) size = (e[1] + 2U) * 4;  // RFC 4302 2.2
    if (next == kIpv6Fragment) {
      size = 8;
      const uint16_t fragment = wire::load_be16(e + 2);
      if ((fragment & 0xfff9) != 0) p.flags |= kFragment;
      if ((fragment & 0xfff8) != 0) {
        p.flags |= kLaterFragment;
        return DropReason::kNone;
      }
    }
    next = e[0];
    at += size;
    if (at > end) return DropReason::kBadExtension;
  }
  p.l4_protocol = next;
  p.l4 = static_cast<uint16_t>(at);
  return DropReason::kNone;
}

DropReason check_addresses(const uint8_t* source, const uint8_t* destination, const PacketInfo& p,
                           const Tables& tables) {
  if (is_multicast(source) || is_loopback(source)) return DropReason::kMartianSource;
  // RFC 4291 2.5.2: a source may be unspecified only during duplicate address detection, which is
  // neighbour discovery to a multicast address.
  if (is_unspecified(source) && !is_multicast(destination)) return DropReason::kMartianSource;
  if (tables.own(load_ipv6(source))) return DropReason::kMartianSource;
  if (is_unspecified(destination) || is_loopback(destination))
    return DropReason::kMartianDestination;
  if (p.has(kLinkCast) && !is_multicast(destination)) return DropReason::kLinkBroadcast;
  return DropReason::kNone;
}

}  // namespace

DropReason parse_ipv6(rte_mbuf& m, PacketInfo& p, const Tables& tables) {
  if (m.data_len < p.l3 + wire::kIpv6Size) return DropReason::kRunt;
  const uint8_t* ip = frame_of(&m) + p.l3;
  if (ip[0] >> 4 != 6) return DropReason::kBadVersion;
  const uint32_t payload = wire::load_be16(ip + wire::kIpv6PayloadLengthAt);
  const uint8_t next = ip[wire::kIpv6NextHeaderAt];
  // A zero length before hop-by-hop options announces a jumbogram (RFC 2675), which no link here
  // carries.
  if (payload == 0 && next == kHopByHop) return DropReason::kBadLength;
  const uint32_t datagram = static_cast<uint32_t>(wire::kIpv6Size) + payload;
  if (p.l3 + datagram > m.pkt_len || datagram > UINT16_MAX) return DropReason::kBadLength;
  if (m.pkt_len > p.l3 + datagram) cut_to(&m, p.l3 + datagram);
  p.datagram = static_cast<uint16_t>(datagram);

  const DropReason why =
      check_addresses(ip + wire::kIpv6SourceAt, ip + wire::kIpv6DestinationAt, p, tables);
  if (why != DropReason::kNone) return why;
  return skip_extensions(m, frame_of(&m), p, next);
}

}  // namespace turnpike::router
