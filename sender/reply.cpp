// SPDX-License-Identifier: BSD-3-Clause
// Every length and checksum is computed anew: nothing of the received ones is trusted to survive.
#include "sender/reply.h"

#include <algorithm>

#include <rte_mbuf.h>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"

namespace turnpike::sender {
namespace {

using namespace wire;

constexpr uint8_t kTtl = 64;
constexpr size_t kMacSize = 6;

void swap_bytes(uint8_t* a, uint8_t* b, size_t n) { std::swap_ranges(a, a + n, b); }

/// IP header for a datagram of `datagram` B that goes back; returns the pseudo-header's sum.
uint32_t turn_round(uint8_t* ip, const UdpFrame& at, uint16_t datagram, uint16_t udp_length) {
  if (at.ipv6) {
    swap_bytes(ip + kIpv6SourceAt, ip + kIpv6DestinationAt, 16);
    store_be16(ip + kIpv6PayloadLengthAt, static_cast<uint16_t>(datagram - kIpv6Size));
    ip[kIpv6HopLimitAt] = kTtl;
    return pseudo_header_sum(ip + kIpv6SourceAt, ip + kIpv6DestinationAt, kProtocolUdp, udp_length);
  }
  swap_bytes(ip + kIpv4SourceAt, ip + kIpv4DestinationAt, 4);
  store_be16(ip + kIpv4TotalLengthAt, datagram);
  store_be16(ip + kIpv4FragmentAt, kIpv4DontFragment);
  ip[kIpv4TtlAt] = kTtl;
  store_be16(ip + kIpv4ChecksumAt, 0);
  store_be16(ip + kIpv4ChecksumAt,
             checksum_of(sum_words({ip, static_cast<size_t>(at.udp - at.ip)})));
  return pseudo_header_sum(load_be32(ip + kIpv4SourceAt), load_be32(ip + kIpv4DestinationAt),
                           kProtocolUdp, udp_length);
}

}  // namespace

bool write_reply(rte_mbuf& m, const UdpFrame& at, const Header& header, const Reply& reply,
                 Nanos now) {
  const size_t congestion = header.length - kHeaderSize - header.ranges * kRangeSize;
  const uint16_t length = header_length(congestion, reply.ranges);
  const size_t size = at.payload + length;
  if (size > size_t{m.data_len} + rte_pktmbuf_tailroom(&m)) return false;
  m.data_len = static_cast<uint16_t>(size);
  m.pkt_len = m.data_len;
  m.ol_flags = 0;

  auto* frame = rte_pktmbuf_mtod(&m, uint8_t*);
  swap_bytes(frame, frame + kMacSize, kMacSize);
  uint8_t* udp = frame + at.udp;
  const bool no_checksum = load_be16(udp + kUdpChecksumAt) == 0;
  swap_bytes(udp + kUdpSourceAt, udp + kUdpDestinationAt, 2);

  const Header answer{.kind = reply.kind,
                      .protocol = header.protocol,
                      .ranges = reply.ranges,
                      .length = length,
                      .flow = header.flow,
                      .sequence = header.sequence,
                      .acknowledgement = reply.acknowledgement,
                      .timestamp = to_ticks(now),
                      .echo = header.timestamp};
  encode(answer, frame + at.payload);
  for (size_t i = 0; i < reply.ranges; ++i) {
    store_range(answer, frame + at.payload, i, reply.range[i]);
  }

  const auto udp_length = static_cast<uint16_t>(kUdpSize + length);
  const auto datagram = static_cast<uint16_t>(at.udp - at.ip + udp_length);
  const uint32_t pseudo = turn_round(frame + at.ip, at, datagram, udp_length);
  store_be16(udp + kUdpLengthAt, udp_length);
  store_be16(udp + kUdpChecksumAt, 0);
  // A flow that chose to go without a checksum gets its answers without.
  if (!no_checksum) {
    store_be16(udp + kUdpChecksumAt, udp_checksum_of(pseudo + sum_fresh_words({udp, udp_length})));
  }
  return true;
}

}  // namespace turnpike::sender
