// SPDX-License-Identifier: BSD-3-Clause
// Fast path of the parse stage: validates the most common packets in one pass.
#pragma once

#include <array>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "common/wire/turnpike_header.h"
#include "router/control/tables.h"
#include "router/datapath/burst.h"
#include "router/datapath/ingress/ip.h"

namespace turnpike::router {

/// First octets of IPv4 addresses that may all be source and destination of forwarded packets.
inline constexpr std::array<bool, 256> kUsualIpv4 = [] {
  std::array<bool, 256> usual{};
  for (size_t octet = 1; octet < 0xe0; ++octet) usual[octet] = octet != 0x7f && octet != 0xa9;
  return usual;
}();
/// The same for IPv6: global unicast (2000::/3, RFC 4291 2.5.4) and unique local (RFC 4193).
inline constexpr std::array<bool, 256> kUsualIpv6 = [] {
  std::array<bool, 256> usual{};
  for (size_t octet = 0x20; octet < 0x40; ++octet) usual[octet] = true;
  usual[0xfc] = usual[0xfd] = true;
  return usual;
}();

/// A station as parse_fast() compares it with packets that arrive by its link.
struct FastStation {
  // The first eight bytes of a frame to the station, as a host word; ignore the last two.
  uint64_t mac = 0;
  uint32_t own = 0;   // Tables::own_hashes()
  uint64_t own6 = 0;  // Tables::own_hashes6()

  FastStation(const Tables& tables, unsigned input)
      : own(tables.own_hashes()), own6(tables.own_hashes6()) {
    const wire::Mac& address = tables.stations()[input].mac;
    std::memcpy(&mac, address.data(), address.size());
  }
};

/// Whether `datagram` is at least `least` B and within the frame, which holds at least `least` B
/// after its Ethernet header.
inline bool fits(uint32_t datagram, size_t least, const rte_mbuf& m) {
  // A datagram of less than `least` B wraps around and exceeds every frame.
  const auto shortest = static_cast<uint32_t>(least);
  return datagram - shortest <= m.data_len - (uint32_t{wire::kEthernetSize} + shortest);
}

/// EtherType and the datagram's first octet as a host word; ignore the byte of the octet after it.
constexpr uint32_t front_word(uint16_t type, uint8_t first) {
  return __builtin_bswap32(uint32_t{type} << 16 | uint32_t{first} << 8);
}

/// The result of parse_fast().
enum class FastPath : uint8_t { kRefused, kIpv4, kIpv6 };

/// IPv4 of parse_fast(). The frame holds the header at `ip` and a UDP header's length after it.
inline bool fast_ipv4(const rte_mbuf& m, const uint8_t* ip, const FastStation& station,
                      const Tables& tables, PacketInfo& p, uint32_t& destination) {
  constexpr uint16_t kPieces = __builtin_bswap16(wire::kIpv4FragmentMask);
  constexpr uint16_t kWhole = __builtin_bswap16(wire::kIpv4DontFragment);
  const uint32_t datagram = wire::load_be16(ip + wire::kIpv4TotalLengthAt);
  uint16_t fragment;
  std::memcpy(&fragment, ip + wire::kIpv4FragmentAt, sizeof fragment);
  if ((fragment & kPieces) != 0) return false;
  if (!fits(datagram, wire::kIpv4Size + wire::kUdpSize, m)) return false;
  if (!kUsualIpv4[ip[wire::kIpv4SourceAt]] || !kUsualIpv4[ip[wire::kIpv4DestinationAt]])
    return false;
  if (ip[wire::kIpv4TtlAt] <= 1) return false;
  const uint32_t source = wire::load_be32(ip + wire::kIpv4SourceAt);
  if ((station.own >> Tables::own_hash(source) & 1) != 0 && tables.may_be_own(source)) return false;
  if ((m.ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) != RTE_MBUF_F_RX_IP_CKSUM_GOOD &&
      !wire::sums_to_ones<wire::kIpv4Size>(ip))
    return false;
  p.l4 = wire::kEthernetSize + wire::kIpv4Size;
  p.datagram = static_cast<uint16_t>(datagram);
  p.flags = (fragment & kWhole) == 0 ? kMayFragment : 0;
  p.l4_protocol = ip[wire::kIpv4ProtocolAt];
  destination = wire::load_be32(ip + wire::kIpv4DestinationAt);
  return true;
}

/// The same for IPv6.
inline bool fast_ipv6(const rte_mbuf& m, const uint8_t* ip, const Tables& tables, PacketInfo& p,
                      config::Ipv6& destination) {
  const uint32_t datagram =
      static_cast<uint32_t>(wire::kIpv6Size) + wire::load_be16(ip + wire::kIpv6PayloadLengthAt);
  const uint8_t next = ip[wire::kIpv6NextHeaderAt];
  if (is_extension(next)) return false;
  if (!fits(datagram, wire::kIpv6Size + wire::kUdpSize, m)) return false;
  if (!kUsualIpv6[ip[wire::kIpv6SourceAt]] || !kUsualIpv6[ip[wire::kIpv6DestinationAt]])
    return false;
  if (ip[wire::kIpv6HopLimitAt] <= 1) return false;
  if (tables.may_be_own(load_ipv6(ip + wire::kIpv6SourceAt))) return false;
  p.l4 = wire::kEthernetSize + wire::kIpv6Size;
  p.datagram = static_cast<uint16_t>(datagram);
  p.flags = kIpv6;
  p.l4_protocol = next;
  destination = load_ipv6(ip + wire::kIpv6DestinationAt);
  return true;
}

/// Checks a packet for the fast path: one segment, untagged, sent to the station's MAC, IPv4
/// without options or IPv6 without extension headers, no fragment, a TTL or hop limit of more than
/// 1, ordinary unicast addresses, room for a UDP header, and valid by the checks of parse_fully().
/// If so, fills in `p` as parse_fully() does and the destination, `ipv4` in host order, and cuts
/// padding off; if not, these are unspecified and the packet unchanged.
inline FastPath parse_fast(rte_mbuf& m, const FastStation& station, const Tables& tables,
                           PacketInfo& p, uint32_t& ipv4, config::Ipv6& ipv6) {
  constexpr uint32_t kMin = wire::kEthernetSize + wire::kIpv4Size + wire::kUdpSize;
  constexpr uint32_t kMinSize6 = wire::kEthernetSize + wire::kIpv6Size + wire::kUdpSize;
  if (m.data_len < kMin || m.data_len != m.pkt_len) return FastPath::kRefused;
  const uint8_t* frame = frame_of(&m);
  uint64_t first;
  std::memcpy(&first, frame, sizeof first);
  if ((first ^ station.mac) << 16 != 0) return FastPath::kRefused;
  uint32_t front;
  std::memcpy(&front, frame + wire::kEtherTypeAt, sizeof front);
  const uint8_t* ip = frame + wire::kEthernetSize;
  auto found = FastPath::kIpv4;
  // IPv4 with a header of 20 B (no options); IPv6's first octet has four bits of the traffic class.
  if ((front & front_word(0xffff, 0xff)) == front_word(wire::kEtherTypeIpv4, 0x45)) {
    if (!fast_ipv4(m, ip, station, tables, p, ipv4)) return FastPath::kRefused;
  } else {
    if ((front & front_word(0xffff, 0xf0)) != front_word(wire::kEtherTypeIpv6, 0x60) ||
        m.data_len < kMinSize6 || !fast_ipv6(m, ip, tables, p, ipv6))
      return FastPath::kRefused;
    found = FastPath::kIpv6;
  }
  p.l3 = wire::kEthernetSize;
  m.data_len = static_cast<uint16_t>(wire::kEthernetSize + p.datagram);
  m.pkt_len = m.data_len;
  return found;
}

/// Whether a packet that parse_fast() accepted is UDP from or to the Turnpike port.
inline bool to_turnpike(rte_mbuf& m, const PacketInfo& p, uint16_t port) {
  if (p.l4_protocol != wire::kProtocolUdp) return false;
  const uint8_t* udp = frame_of(&m) + p.l4;
  return wire::load_be16(udp + wire::kUdpDestinationAt) == port ||
         wire::load_be16(udp + wire::kUdpSourceAt) == port;
}

/// Whether a packet of to_turnpike() is a valid data packet or ACK by parse_turnpike()'s checks. If
/// so, fills in `p`, for a data packet with its congestion header; if not, `p` is unchanged.
inline bool usual_turnpike(rte_mbuf& m, PacketInfo& p, const Tables& tables) {
  const uint8_t* udp = frame_of(&m) + p.l4;
  const uint32_t length = wire::load_be16(udp + wire::kUdpLengthAt);
  if (length < wire::kUdpSize + wire::kHeaderSize || p.l4 + length > m.data_len) return false;
  wire::Header h;
  if (wire::decode_shape({udp + wire::kUdpSize, length - wire::kUdpSize}, h) !=
      wire::HeaderError::kNone)
    return false;
  const uint32_t congestion = tables.congestion_size(h.protocol);
  if (congestion == 0) return false;
  if (h.kind == wire::Kind::kData) {
    if (h.length < wire::kHeaderSize + congestion + h.ranges * wire::kRangeSize) return false;
    p.congestion = static_cast<uint16_t>(p.l4 + wire::kUdpSize + wire::kHeaderSize);
  } else if (h.kind != wire::Kind::kAck) {
    return false;
  }
  p.flags |= kTurnpike;
  p.protocol = h.protocol;
  return true;
}

}  // namespace turnpike::router
