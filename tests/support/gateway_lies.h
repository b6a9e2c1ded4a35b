// SPDX-License-Identifier: BSD-3-Clause
// Packets that a hostile customer of a gateway makes.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/link_attacker.h"

namespace turnpike::lab::gateway_attack_test {

/// An IPv4 datagram whose header has this total length; the checksum is right.
inline std::vector<uint8_t> datagram(uint32_t source, uint32_t destination, uint8_t protocol,
                                     uint8_t ttl, size_t size, uint16_t length,
                                     uint16_t fragment = 0) {
  std::vector<uint8_t> ip(std::max(size, wire::kIpv4Size));
  ip[0] = 0x45;
  wire::store_be16(&ip[wire::kIpv4TotalLengthAt], length);
  wire::store_be16(&ip[wire::kIpv4FragmentAt], fragment);
  ip[wire::kIpv4TtlAt] = ttl;
  ip[wire::kIpv4ProtocolAt] = protocol;
  wire::store_be32(&ip[wire::kIpv4SourceAt], source);
  wire::store_be32(&ip[wire::kIpv4DestinationAt], destination);
  wire::store_be16(&ip[wire::kIpv4ChecksumAt],
                   wire::checksum_of(wire::sum_words({ip.data(), wire::kIpv4Size})));
  return ip;
}

inline Frame ethernet(const wire::Mac& to, const wire::Mac& from, std::span<const uint8_t> ip) {
  Frame f(wire::kEthernetSize);
  std::ranges::copy(to, f.begin());
  std::ranges::copy(from, f.begin() + wire::kMacSize);
  wire::store_be16(&f[wire::kEtherTypeAt],
                   ip[0] >> 4 == 6 ? wire::kEtherTypeIpv6 : wire::kEtherTypeIpv4);
  f.insert(f.end(), ip.begin(), ip.end());
  return f;
}

/// ICMP's "fragmentation needed" from a router at `source`, which quotes a tunnel's packet.
inline Frame too_big(const TunnelPacket& quoted, uint32_t source, uint16_t mtu, const wire::Mac& to,
                     const wire::Mac& from) {
  const Frame whole = quoted.frame();
  constexpr size_t kIcmp = 8, kQuoted = 200;
  constexpr size_t kSize = wire::kIpv4Size + kIcmp + kQuoted;
  if (whole.size() < wire::kEthernetSize + kQuoted) return {};
  const auto own = std::get<wire::Ipv4Pair>(quoted.spec.addresses).source;
  std::vector<uint8_t> ip = datagram(source, own, 1, 64, kSize, kSize);
  uint8_t* const icmp = ip.data() + wire::kIpv4Size;
  icmp[0] = 3;
  icmp[1] = 4;
  wire::store_be16(icmp + 6, mtu);
  std::copy_n(whole.begin() + wire::kEthernetSize, kQuoted, icmp + kIcmp);
  wire::store_be16(icmp + 2, wire::checksum_of(wire::sum_words({icmp, kIcmp + kQuoted})));
  return ethernet(to, from, ip);
}

/// A packet of a tunnel with a true token and a lie in one of its fields or datagrams.
inline Frame lie(TunnelPacket p, std::mt19937_64& random) {
  constexpr uint32_t kAnna = 0x0a090102, kServer = 0x0a090902;
  const auto draw = [&](uint64_t most) { return random() % most; };
  const uint16_t headers = p.header.length;
  const auto carry = [&](const std::vector<uint8_t>& ip) {
    p.bytes.resize(headers);
    p.bytes.insert(p.bytes.end(), ip.begin(), ip.end());
  };
  const auto any = [&] { return static_cast<uint32_t>(random()); };
  p.header.sequence += static_cast<uint32_t>(draw(64));
  switch (draw(14)) {
    case 0:  // far ahead: moves the replay window
      p.header.sequence += static_cast<uint32_t>(draw(1U << 31));
      break;
    case 1:
      p.header.sequence -= static_cast<uint32_t>(draw(1U << 20));
      break;
    case 2:
      p.header.length = static_cast<uint16_t>(4 * draw(256));
      break;
    case 3:
      p.header.ranges = static_cast<uint8_t>(any());
      break;
    case 4:
      p.header.protocol = static_cast<uint8_t>(any());
      break;
    case 5:
      p.header.kind = static_cast<wire::Kind>(draw(16));
      break;
    case 6:
      for (uint8_t& byte : p.congestion()) byte = static_cast<uint8_t>(random());
      break;
    case 7:  // a probe, or less than a header
      p.bytes.resize(draw(2) == 0 ? headers : draw(headers));
      break;
    case 8:  // a datagram of another customer
      carry(datagram(kAnna, kServer, 17, 64, 1000, 1000));
      break;
    case 9:  // to the core, a group, the whole network, and this host
      for (const uint32_t to : {0x0a000001U, 0xe0000001U, 0xffffffffU, 0x7f000001U, any()})
        carry(
            datagram(draw(2) == 0 ? kAnna : any(), to, static_cast<uint8_t>(any()), 64, 100, 100));
      break;
    case 10:
      carry(datagram(kAnna, kServer, 17, static_cast<uint8_t>(draw(2)), 200, 200));
      break;
    case 11:  // lengths that lie
      carry(datagram(kAnna, kServer, 17, 64, draw(1400), static_cast<uint16_t>(any())));
      break;
    case 12:  // as many datagrams as fit
      p.bytes.resize(headers);
      for (unsigned n = 0; n < 60; ++n) {
        const auto ip = datagram(kAnna, any(), 17, 64, 20, 20, static_cast<uint16_t>(any()));
        p.bytes.insert(p.bytes.end(), ip.begin(), ip.end());
      }
      break;
    default:
      for (size_t i = headers; i < p.bytes.size(); ++i) p.bytes[i] = static_cast<uint8_t>(random());
  }
  if (p.bytes.size() >= wire::kHeaderSize) return p.frame();
  return wire::build_frame(p.spec, p.bytes);  // what is left of the header
}

}  // namespace turnpike::lab::gateway_attack_test
