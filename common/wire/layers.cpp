// SPDX-License-Identifier: BSD-3-Clause
// Locates and verifies a UDP datagram in an untrusted frame.
#include "common/wire/layers.h"

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"

namespace turnpike::wire {

namespace {

/// Parses the IP header at out.ip, of which `left` bytes follow; fills in udp, ttl and datagram.
FrameError locate_in_ipv4(const uint8_t* ip, size_t left, UdpFrame& out) {
  if (left < kIpv4Size) return FrameError::kTruncated;
  if (ip[0] >> 4 != 4) return FrameError::kNotIp;
  const size_t header = (ip[0] & 0x0fu) * 4;
  out.datagram = load_be16(ip + kIpv4TotalLengthAt);
  if (header < kIpv4Size || out.datagram < header) return FrameError::kLength;
  if (out.datagram > left) return FrameError::kTruncated;
  if (ip[kIpv4ProtocolAt] != kProtocolUdp) return FrameError::kNotUdp;
  if ((load_be16(ip + kIpv4FragmentAt) & kIpv4FragmentMask) != 0) return FrameError::kFragment;
  out.udp = static_cast<uint16_t>(out.ip + header);
  out.ttl = ip[kIpv4TtlAt];
  return FrameError::kNone;
}

FrameError locate_in_ipv6(const uint8_t* ip, size_t left, UdpFrame& out) {
  if (left < kIpv6Size) return FrameError::kTruncated;
  if (ip[0] >> 4 != 6) return FrameError::kNotIp;
  const size_t datagram = kIpv6Size + load_be16(ip + kIpv6PayloadLengthAt);
  if (datagram > UINT16_MAX) return FrameError::kLength;
  if (datagram > left) return FrameError::kTruncated;
  if (ip[kIpv6NextHeaderAt] != kProtocolUdp) return FrameError::kNotUdp;
  out.datagram = static_cast<uint16_t>(datagram);
  out.udp = static_cast<uint16_t>(out.ip + kIpv6Size);
  out.ttl = ip[kIpv6HopLimitAt];
  return FrameError::kNone;
}

}  // namespace

FrameError locate_any_udp(std::span<const uint8_t> frame, UdpFrame& out) {
  const uint8_t* p = frame.data();
  if (frame.size() < kEthernetSize) return FrameError::kTruncated;
  size_t ip = kEthernetSize;
  uint16_t type = load_be16(p + kEtherTypeAt);
  if (type == kEtherTypeVlan) {
    ip += kVlanSize;
    if (frame.size() < ip) return FrameError::kTruncated;
    type = load_be16(p + kEtherTypeAt + kVlanSize);
  }
  if (type != kEtherTypeIpv4 && type != kEtherTypeIpv6) return FrameError::kNotIp;

  out.ip = static_cast<uint16_t>(ip);
  out.ipv6 = type == kEtherTypeIpv6;
  const FrameError error = out.ipv6 ? locate_in_ipv6(p + ip, frame.size() - ip, out)
                                    : locate_in_ipv4(p + ip, frame.size() - ip, out);
  if (error != FrameError::kNone) return error;

  const size_t transport = out.datagram - (out.udp - ip);
  if (transport < kUdpSize) return FrameError::kLength;
  const uint16_t udp_length = load_be16(p + out.udp + kUdpLengthAt);
  if (udp_length < kUdpSize || udp_length > transport) return FrameError::kLength;
  out.payload = static_cast<uint16_t>(out.udp + kUdpSize);
  out.payload_size = static_cast<uint16_t>(udp_length - kUdpSize);
  return FrameError::kNone;
}

FrameError verify_checksums(std::span<const uint8_t> frame, const UdpFrame& at) {
  const uint8_t* p = frame.data();
  const uint8_t* ip = p + at.ip;
  if (!at.ipv6 && sum_words(frame.subspan(at.ip, at.udp - at.ip)) != 0xffff) {
    return FrameError::kChecksum;
  }
  if (load_be16(p + at.udp + kUdpChecksumAt) == 0) return FrameError::kNone;
  const auto length = static_cast<uint16_t>(kUdpSize + at.payload_size);
  const uint32_t pseudo =
      at.ipv6 ? pseudo_header_sum(ip + kIpv6SourceAt, ip + kIpv6DestinationAt, kProtocolUdp, length)
              : pseudo_header_sum(load_be32(ip + kIpv4SourceAt), load_be32(ip + kIpv4DestinationAt),
                                  kProtocolUdp, length);
  const uint32_t sum = pseudo + sum_words(frame.subspan(at.udp, length));
  return fold(sum) == 0xffff ? FrameError::kNone : FrameError::kChecksum;
}

}  // namespace turnpike::wire
