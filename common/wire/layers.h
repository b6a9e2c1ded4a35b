// SPDX-License-Identifier: BSD-3-Clause
// The layers below Turnpike: sizes, offsets, and the position of a frame's UDP payload.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/wire/bytes.h"

namespace turnpike::wire {

using Mac = std::array<uint8_t, 6>;
using Ipv4Address = uint32_t;                 // host byte order
using Ipv6Address = std::array<uint8_t, 16>;  // network order

inline constexpr size_t kMacSize = 6;
inline constexpr size_t kEthernetSize = 14;
inline constexpr size_t kVlanSize = 4;
inline constexpr size_t kIpv4Size = 20;  // without options
inline constexpr size_t kIpv6Size = 40;  // without extension headers
inline constexpr size_t kUdpSize = 8;

inline constexpr uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr uint16_t kEtherTypeVlan = 0x8100;
inline constexpr uint16_t kEtherTypeServiceVlan = 0x88a8;  // the outer tag of IEEE 802.1ad
inline constexpr uint16_t kEtherTypeIpv6 = 0x86dd;
inline constexpr uint8_t kProtocolUdp = 17;

// Offsets within each header (RFC 791, RFC 8200, RFC 768).
inline constexpr size_t kEtherTypeAt = 12;
inline constexpr size_t kIpv4TotalLengthAt = 2;
inline constexpr size_t kIpv4FragmentAt = 6;
inline constexpr size_t kIpv4TtlAt = 8;
inline constexpr size_t kIpv4ProtocolAt = 9;
inline constexpr size_t kIpv4ChecksumAt = 10;
inline constexpr size_t kIpv4SourceAt = 12;
inline constexpr size_t kIpv4DestinationAt = 16;
inline constexpr size_t kIpv6PayloadLengthAt = 4;
inline constexpr size_t kIpv6NextHeaderAt = 6;
inline constexpr size_t kIpv6HopLimitAt = 7;
inline constexpr size_t kIpv6SourceAt = 8;
inline constexpr size_t kIpv6DestinationAt = 24;
inline constexpr size_t kUdpSourceAt = 0;
inline constexpr size_t kUdpDestinationAt = 2;
inline constexpr size_t kUdpLengthAt = 4;
inline constexpr size_t kUdpChecksumAt = 6;

inline constexpr uint16_t kIpv4DontFragment = 0x4000;
inline constexpr uint16_t kIpv4FragmentMask = 0x3fff;  // more fragments, and the offset

inline constexpr uint16_t kVidMask = 0x0fff;  // of a tag's control field: the rest is PCP and DEI

/// Whether an EtherType begins a VLAN tag.
constexpr bool is_tag(uint16_t type) {
  return type == kEtherTypeVlan || type == kEtherTypeServiceVlan;
}

/// A whole UDP datagram within a frame: offsets from the frame's first byte.
struct UdpFrame {
  bool ipv6 = false;
  uint8_t ttl = 0;            // or hop limit
  uint16_t ip = 0;            // the IP header
  uint16_t udp = 0;           // the UDP header
  uint16_t payload = 0;       // after the UDP header
  uint16_t payload_size = 0;  // B
  uint16_t datagram = 0;      // B of the IP datagram
  bool operator==(const UdpFrame&) const = default;
};

/// The reason why a Turnpike endpoint cannot read a frame.
enum class FrameError : uint8_t {
  kNone,
  kTruncated,  // the frame ends before a length in it
  kNotIp,      // also: more than one VLAN tag
  kNotUdp,     // also: an IPv6 extension header
  kFragment,   // endpoints do not reassemble: Turnpike packets are sent whole
  kLength,     // contradictory lengths
  kChecksum,   // IPv4 header or UDP
};

/// Locates the UDP payload of an Ethernet frame: at most one 802.1Q tag, IPv4 with or without
/// options or IPv6. Excludes trailing padding. Never reads beyond `frame`. Checks lengths, not
/// checksums; on error `out` is unspecified.
inline FrameError locate_udp(std::span<const uint8_t> frame, UdpFrame& out);

/// The same for any frame. locate_udp() handles the common one, untagged IPv4 without options, in
/// one pass.
FrameError locate_any_udp(std::span<const uint8_t> frame, UdpFrame& out);

inline FrameError locate_udp(std::span<const uint8_t> frame, UdpFrame& out) {
  constexpr size_t kUdpAt = kEthernetSize + kIpv4Size;
  constexpr uint8_t kVersionAndLength = 0x45;
  const uint8_t* const p = frame.data();
  const uint8_t* const ip = p + kEthernetSize;
  if (frame.size() < kUdpAt + kUdpSize || load_be16(p + kEtherTypeAt) != kEtherTypeIpv4 ||
      ip[0] != kVersionAndLength || ip[kIpv4ProtocolAt] != kProtocolUdp ||
      (load_be16(ip + kIpv4FragmentAt) & kIpv4FragmentMask) != 0)
    return locate_any_udp(frame, out);
  const size_t datagram = load_be16(ip + kIpv4TotalLengthAt);
  const size_t udp_length = load_be16(p + kUdpAt + kUdpLengthAt);
  if (datagram > frame.size() - kEthernetSize || udp_length < kUdpSize ||
      udp_length + kIpv4Size > datagram)
    return locate_any_udp(frame, out);
  out = {.ipv6 = false,
         .ttl = ip[kIpv4TtlAt],
         .ip = kEthernetSize,
         .udp = kUdpAt,
         .payload = kUdpAt + kUdpSize,
         .payload_size = static_cast<uint16_t>(udp_length - kUdpSize),
         .datagram = static_cast<uint16_t>(datagram)};
  return FrameError::kNone;
}

/// kChecksum unless the IPv4 header's and the UDP checksum are correct. A zero UDP checksum is
/// accepted on IPv4, and on IPv6 as RFC 6936 allows for tunnels.
FrameError verify_checksums(std::span<const uint8_t> frame, const UdpFrame& at);

}  // namespace turnpike::wire
