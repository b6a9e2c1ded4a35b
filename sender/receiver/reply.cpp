// SPDX-License-Identifier: BSD-3-Clause
// Computes lengths and the UDP checksum anew; updates the IPv4 header's checksum, which the host
// has verified, incrementally (RFC 1624).
#include "sender/receiver/reply.h"

#include <array>
#include <cstring>

#include <rte_mbuf.h>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"

namespace turnpike::sender {
namespace {

using namespace wire;

constexpr uint8_t kTtl = 64;

template <size_t Bytes>
void swap_bytes(uint8_t* a, uint8_t* b) {
  std::array<uint8_t, Bytes> x, y;
  std::memcpy(x.data(), a, Bytes);
  std::memcpy(y.data(), b, Bytes);
  std::memcpy(a, y.data(), Bytes);
  std::memcpy(b, x.data(), Bytes);
}

/// Writes the IP header of a reply of `datagram` B; returns the unfolded sum of the pseudo-header.
uint64_t turn_round(uint8_t* ip, const UdpFrame& at, uint16_t datagram, uint16_t udp_length) {
  if (at.ipv6) {
    swap_bytes<16>(ip + kIpv6SourceAt, ip + kIpv6DestinationAt);
    store_be16(ip + kIpv6PayloadLengthAt, static_cast<uint16_t>(datagram - kIpv6Size));
    ip[kIpv6HopLimitAt] = kTtl;
    return pseudo_header_sum(ip + kIpv6SourceAt, ip + kIpv6DestinationAt, kProtocolUdp, udp_length);
  }
  const auto changed = [&] {  // sum of the fields that change; swapping addresses keeps the sum
    return uint32_t{load_be16(ip + kIpv4TotalLengthAt)} + load_be16(ip + kIpv4FragmentAt) +
           (uint32_t{ip[kIpv4TtlAt]} << 8);
  };
  const uint32_t before = changed();
  swap_bytes<4>(ip + kIpv4SourceAt, ip + kIpv4DestinationAt);
  store_be16(ip + kIpv4TotalLengthAt, datagram);
  store_be16(ip + kIpv4FragmentAt, kIpv4DontFragment);
  ip[kIpv4TtlAt] = kTtl;
  store_be16(ip + kIpv4ChecksumAt,
             update_checksum(load_be16(ip + kIpv4ChecksumAt), before, changed()));
  return uint64_t{load_be32(ip + kIpv4SourceAt)} + load_be32(ip + kIpv4DestinationAt) +
         kProtocolUdp + udp_length;
}

}  // namespace

bool write_reply(rte_mbuf& m, const UdpFrame& at, const Header& header, const Reply& reply,
                 uint16_t payload_size) {
  const size_t congestion = header.length - kHeaderSize - header.ranges * kRangeSize;
  const uint16_t length = header_length(congestion, reply.ranges);
  const size_t size = size_t{at.payload} + length + payload_size;
  if (size > size_t{m.data_len} + rte_pktmbuf_tailroom(&m)) return false;
  m.data_len = static_cast<uint16_t>(size);
  m.pkt_len = m.data_len;
  m.ol_flags = 0;

  auto* frame = rte_pktmbuf_mtod(&m, uint8_t*);
  swap_bytes<kMacSize>(frame, frame + kMacSize);
  uint8_t* udp = frame + at.udp;
  const bool no_checksum = load_be16(udp + kUdpChecksumAt) == 0;
  swap_bytes<2>(udp + kUdpSourceAt, udp + kUdpDestinationAt);

  const Header answer{.kind = reply.kind,
                      .protocol = header.protocol,
                      .ranges = reply.ranges,
                      .length = length,
                      .flow = header.flow,
                      .sequence = header.sequence,
                      .acknowledgement = reply.acknowledgement,
                      .echo = header.timestamp,
                      .token = reply.token};
  uint8_t* payload = frame + at.payload;
  uint64_t sum = encode(answer, payload) + sum_of_words({payload + kHeaderSize, congestion});
  for (size_t i = 0; i < reply.ranges; ++i) {
    store_range(answer, payload, i, reply.range[i]);
    sum += uint64_t{reply.range[i].begin} + reply.range[i].end;
  }

  const auto udp_length = static_cast<uint16_t>(kUdpSize + length + payload_size);
  const auto datagram = static_cast<uint16_t>(at.udp - at.ip + udp_length);
  sum += turn_round(frame + at.ip, at, datagram, udp_length);
  sum += uint64_t{load_be16(udp + kUdpSourceAt)} + load_be16(udp + kUdpDestinationAt) + udp_length;
  store_be16(udp + kUdpLengthAt, udp_length);
  // A packet without a UDP checksum gets a reply without one.
  store_be16(udp + kUdpChecksumAt, no_checksum ? 0 : udp_checksum_of(sum));
  return true;
}

void add_to_checksum(uint8_t* udp, std::span<const uint8_t> payload) {
  const uint16_t before = load_be16(udp + kUdpChecksumAt);
  if (before == 0) return;
  const uint64_t sum = uint64_t{static_cast<uint16_t>(~before)} + sum_of_words(payload);
  store_be16(udp + kUdpChecksumAt, udp_checksum_of(sum));
}

}  // namespace turnpike::sender
