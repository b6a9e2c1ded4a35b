// SPDX-License-Identifier: BSD-3-Clause
// IPv4 validation by RFC 1812.
#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/ingress/parse.h"
#include "router/datapath/ingress/segments.h"

namespace turnpike::router {

namespace {

constexpr bool within(uint32_t address, uint32_t network, unsigned length) {
  return (address ^ network) >> (32 - length) == 0;
}

// RFC 1812 5.3.7: "this network", loopback, multicast and class E are invalid sources. RFC 3927
// 2.7: link-local addresses are not forwarded.
DropReason check_addresses(uint32_t source, uint32_t destination, const Tables& tables) {
  if (within(source, 0, 8) || within(source, 0x7f000000, 8) || source >= 0xe0000000 ||
      tables.own(source)) {
    return DropReason::kMartianSource;
  }
  if (destination >= 0xe0000000) {
    if (destination == 0xffffffff) return DropReason::kBroadcast;
    if (destination >= 0xf0000000) return DropReason::kMartianDestination;
    return tables.find_tree(destination) < tables.trees().size() ? DropReason::kNone
                                                                 : DropReason::kMulticast;
  }
  if (within(destination, 0, 8) || within(destination, 0x7f000000, 8))
    return DropReason::kMartianDestination;
  if (within(source, 0xa9fe0000, 16) || within(destination, 0xa9fe0000, 16))
    return DropReason::kLinkLocal;
  return DropReason::kNone;
}

}  // namespace

DropReason parse_ipv4(rte_mbuf& m, PacketInfo& p, const Tables& tables) {
  // The five checks of RFC 1812 5.2.2: room, version, header length, checksum, total length.
  if (m.data_len < p.l3 + wire::kIpv4Size) return DropReason::kRunt;
  const uint8_t* ip = frame_of(&m) + p.l3;
  if (ip[0] >> 4 != 4) return DropReason::kBadVersion;
  const size_t header = (ip[0] & 0x0fU) * 4;
  if (header < wire::kIpv4Size || m.data_len < p.l3 + header) return DropReason::kBadHeaderLength;
  const bool checked = (m.ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_GOOD;
  if (!checked && wire::sum_words({ip, header}) != 0xffff) return DropReason::kBadChecksum;
  p.datagram = wire::load_be16(ip + wire::kIpv4TotalLengthAt);
  if (p.datagram < header || uint32_t{p.l3} + p.datagram > m.pkt_len) return DropReason::kBadLength;
  if (m.pkt_len > uint32_t{p.l3} + p.datagram) cut_to(&m, uint32_t{p.l3} + p.datagram);

  const uint32_t destination = wire::load_be32(ip + wire::kIpv4DestinationAt);
  const DropReason why =
      check_addresses(wire::load_be32(ip + wire::kIpv4SourceAt), destination, tables);
  if (why != DropReason::kNone) return why;
  if (destination >= 0xe0000000) p.flags |= kGroup;
  // RFC 1812 5.3.4: a router must not forward a unicast datagram in a link-layer broadcast.
  if (p.has(kLinkCast) && !p.has(kGroup)) return DropReason::kLinkBroadcast;

  const uint16_t fragment = wire::load_be16(ip + wire::kIpv4FragmentAt);
  if ((fragment & wire::kIpv4FragmentMask) != 0) p.flags |= kFragment;
  if ((fragment & kFragmentOffsetMask) != 0) p.flags |= kLaterFragment;
  if ((fragment & wire::kIpv4DontFragment) == 0) p.flags |= kMayFragment;
  p.l4_protocol = ip[wire::kIpv4ProtocolAt];
  p.l4 = static_cast<uint16_t>(p.l3 + header);
  return DropReason::kNone;
}

}  // namespace turnpike::router
