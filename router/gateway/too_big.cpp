// SPDX-License-Identifier: BSD-3-Clause
#include "router/gateway/too_big.h"

#include <algorithm>

#include "common/wire/bytes.h"
#include "common/wire/layers.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::gateway {
namespace {

constexpr size_t kIcmpSize = 8, kMtuAt = 4;
constexpr uint8_t kUnreachable = 3, kFragmentationNeeded = 4;  // type and code of RFC 792
constexpr uint8_t kPacketTooBig = 2;                           // RFC 4443 section 3.2

}  // namespace

std::optional<TooBig> read_too_big(std::span<const uint8_t> icmp, bool ipv6) {
  if (icmp.size() < kIcmpSize) return std::nullopt;
  const bool right =
      ipv6 ? icmp[0] == kPacketTooBig : icmp[0] == kUnreachable && icmp[1] == kFragmentationNeeded;
  if (!right) return std::nullopt;
  // IPv4's is in the last 16 of these 32 bits, of which the others are zero (RFC 1191 section 4).
  const uint32_t mtu = wire::load_be32(icmp.data() + kMtuAt);
  const std::span<const uint8_t> quoted = icmp.subspan(kIcmpSize);
  // A gateway's packets have neither options nor extension headers.
  const size_t udp = ipv6 ? wire::kIpv6Size : wire::kIpv4Size;
  if (quoted.size() < udp + wire::kUdpSize + wire::kHeaderSize) return std::nullopt;
  const uint8_t* const ip = quoted.data();
  const bool right_version = ipv6 ? ip[0] >> 4 == 6 : ip[0] == 0x45;
  if (!right_version ||
      ip[ipv6 ? wire::kIpv6NextHeaderAt : wire::kIpv4ProtocolAt] != wire::kProtocolUdp)
    return std::nullopt;
  wire::Header header;
  if (wire::decode_shape(quoted.subspan(udp + wire::kUdpSize), header) !=
          wire::HeaderError::kNone ||
      !wire::is_request(header.kind))
    return std::nullopt;
  const uint8_t* const own = ip + udp + wire::kUdpSize;
  return TooBig{.mtu = static_cast<uint16_t>(std::min<uint32_t>(mtu, UINT16_MAX)),
                .flow = wire::load_be32(own + wire::kFlowAt),
                .token = wire::load_be32(own + wire::kEchoAt),
                .sequence = wire::load_be32(own + wire::kSequenceAt)};
}

}  // namespace turnpike::gateway
