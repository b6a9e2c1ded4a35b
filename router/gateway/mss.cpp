// SPDX-License-Identifier: BSD-3-Clause
#include "router/gateway/mss.h"

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "common/wire/layers.h"

namespace turnpike::gateway {
namespace {

constexpr uint8_t kTcp = 6, kSyn = 0x02;
constexpr uint32_t kTcpSize = 20;
constexpr uint32_t kOffsetAt = 12, kFlagsAt = 13, kTcpChecksumAt = 16;
constexpr uint8_t kEnd = 0, kNoOperation = 1, kMss = 2, kMssLength = 4;  // options: RFC 9293 3.1

/// Offset of the TCP header; 0: there is none to change.
uint32_t tcp_at(const uint8_t* ip, uint32_t length) {
  if (ip[0] >> 4 == 6) {
    return length >= wire::kIpv6Size && ip[wire::kIpv6NextHeaderAt] == kTcp ? wire::kIpv6Size : 0;
  }
  if (length < wire::kIpv4Size || ip[wire::kIpv4ProtocolAt] != kTcp) return 0;
  constexpr uint16_t kOffset = 0x1fff;
  if ((wire::load_be16(ip + wire::kIpv4FragmentAt) & kOffset) != 0) return 0;
  return (ip[0] & 0xfU) * 4;
}

}  // namespace

void clamp_mss(uint8_t* ip, uint32_t length, uint16_t mtu) {
  const uint32_t at = tcp_at(ip, length);
  if (at == 0 || length < at + kTcpSize) return;
  uint8_t* const tcp = ip + at;
  if ((tcp[kFlagsAt] & kSyn) == 0) return;
  const uint32_t headers = (ip[0] >> 4 == 6 ? wire::kIpv6Size : wire::kIpv4Size) + kTcpSize;
  if (mtu <= headers) return;
  const auto most = static_cast<uint16_t>(mtu - headers);
  const uint32_t end = at + (tcp[kOffsetAt] >> 4) * 4U;
  if (end > length) return;
  for (uint32_t o = at + kTcpSize; o < end;) {
    const uint8_t kind = ip[o];
    if (kind == kEnd) return;
    if (kind == kNoOperation) {
      ++o;
      continue;
    }
    if (o + 1 >= end || ip[o + 1] < 2 || o + ip[o + 1] > end) return;
    if (kind == kMss && ip[o + 1] == kMssLength) {
      uint8_t* const value = ip + o + 2;
      const uint16_t before = wire::load_be16(value);
      if (before <= most) return;
      wire::store_be16(value, most);
      // At an odd offset of the TCP header the value's bytes lie in the other halves of two words.
      const bool odd = (o - at) % 2 != 0;
      const uint32_t was = odd ? uint32_t{__builtin_bswap16(before)} : before;
      const uint32_t is = odd ? uint32_t{__builtin_bswap16(most)} : most;
      uint8_t* const sum = tcp + kTcpChecksumAt;
      wire::store_be16(sum, wire::update_checksum(wire::load_be16(sum), was, is));
      return;
    }
    o += ip[o + 1];
  }
}

}  // namespace turnpike::gateway
