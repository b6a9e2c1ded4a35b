// SPDX-License-Identifier: BSD-3-Clause
// Writes Ethernet, IP and UDP headers; checksums start from sums computed once per flow.
#include "common/wire/frame_builder.h"

#include <algorithm>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"

namespace turnpike::wire {

FrameTemplate::FrameTemplate(const FrameSpec& spec)
    : ipv6_(std::holds_alternative<Ipv6Pair>(spec.addresses)), udp_checksum_(spec.udp_checksum) {
  const uint16_t type = ipv6_ ? kEtherTypeIpv6 : kEtherTypeIpv4;
  uint8_t* p = bytes_.data();
  p = std::ranges::copy(spec.destination_mac, p).out;
  p = std::ranges::copy(spec.source_mac, p).out;
  if (spec.vlan) {
    store_be16(p, kEtherTypeVlan);
    store_be16(p + 2, *spec.vlan);
    p += kVlanSize;
  }
  store_be16(p, type);
  ip_ = static_cast<uint8_t>(p + 2 - bytes_.data());
  uint8_t* ip = bytes_.data() + ip_;

  uint32_t pseudo = 0;
  if (ipv6_) {
    const auto& a = std::get<Ipv6Pair>(spec.addresses);
    store_be32(ip, uint32_t{6} << 28 | uint32_t{spec.traffic_class} << 20);
    ip[kIpv6NextHeaderAt] = kProtocolUdp;
    ip[kIpv6HopLimitAt] = spec.ttl;
    std::ranges::copy(a.source, ip + kIpv6SourceAt);
    std::ranges::copy(a.destination, ip + kIpv6DestinationAt);
    pseudo = pseudo_header_sum(a.source.data(), a.destination.data(), kProtocolUdp, 0);
    udp_ = static_cast<uint8_t>(ip_ + kIpv6Size);
  } else {
    const auto& a = std::get<Ipv4Pair>(spec.addresses);
    ip[0] = 4 << 4 | kIpv4Size / 4;
    ip[1] = spec.traffic_class;
    // Identification stays zero: RFC 6864 gives it no meaning in a datagram with DF set.
    store_be16(ip + kIpv4FragmentAt, spec.dont_fragment ? kIpv4DontFragment : 0);
    ip[kIpv4TtlAt] = spec.ttl;
    ip[kIpv4ProtocolAt] = kProtocolUdp;
    store_be32(ip + kIpv4SourceAt, a.source);
    store_be32(ip + kIpv4DestinationAt, a.destination);
    ip_sum_ = sum_words({ip, kIpv4Size});
    pseudo = pseudo_header_sum(a.source, a.destination, kProtocolUdp, 0);
    udp_ = static_cast<uint8_t>(ip_ + kIpv4Size);
  }
  store_be16(bytes_.data() + udp_ + kUdpSourceAt, spec.source_port);
  store_be16(bytes_.data() + udp_ + kUdpDestinationAt, spec.destination_port);
  udp_sum_ = fold(uint64_t{pseudo} + spec.source_port + spec.destination_port);
  size_ = static_cast<uint8_t>(udp_ + kUdpSize);
}

void FrameTemplate::write(uint8_t* frame, uint16_t datagram, uint64_t payload_sum) const {
  // Two overlapping copies of fixed length, and a third for IPv6 with a tag, cost less than one
  // copy of a variable length.
  static_assert(kMaxHeaders <= 80 && kEthernetSize + kIpv4Size + kUdpSize >= 32);
  std::memcpy(frame, bytes_.data(), 32);
  if (size_ > 64) std::memcpy(frame + 32, bytes_.data() + 32, 16);
  std::memcpy(frame + size_ - 32, bytes_.data() + size_ - 32, 32);
  uint8_t* ip = frame + ip_;
  uint8_t* udp = frame + udp_;
  const auto udp_length = static_cast<uint16_t>(datagram - (udp_ - ip_));
  if (ipv6_) {
    store_be16(ip + kIpv6PayloadLengthAt, udp_length);
  } else {
    store_be16(ip + kIpv4TotalLengthAt, datagram);
    store_be16(ip + kIpv4ChecksumAt, checksum_of(uint64_t{ip_sum_} + datagram));
  }
  store_be16(udp + kUdpLengthAt, udp_length);
  if (udp_checksum_) {
    // The length counts twice: in the pseudo-header and in the UDP header.
    const uint64_t sum = payload_sum + udp_sum_ + udp_length + udp_length;
    store_be16(udp + kUdpChecksumAt, udp_checksum_of(sum));
  }
}

void FrameTemplate::write(uint8_t* frame, uint16_t datagram, uint64_t payload_sum,
                          uint16_t source_port) const {
  // The template's checksum covers port 0: adds the port like payload.
  write(frame, datagram, payload_sum + source_port);
  store_be16(frame + udp_ + kUdpSourceAt, source_port);
}

std::vector<uint8_t> build_frame(const FrameSpec& spec, std::span<const uint8_t> payload,
                                 uint16_t datagram) {
  const FrameTemplate headers(spec);
  const auto least = static_cast<uint16_t>(headers.ip_headers_size() + payload.size());
  datagram = std::max(datagram, least);
  std::vector<uint8_t> frame(headers.frame_size(datagram));
  std::ranges::copy(payload, frame.begin() + static_cast<std::ptrdiff_t>(headers.headers_size()));
  headers.write(frame.data(), datagram, sum_words(payload));
  return frame;
}

}  // namespace turnpike::wire
