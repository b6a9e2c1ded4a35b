// SPDX-License-Identifier: BSD-3-Clause
// Ethernet, IP and UDP headers, built once per flow and copied before each payload.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "common/wire/layers.h"

namespace turnpike::wire {

struct Ipv4Pair {
  Ipv4Address source = 0, destination = 0;
};
struct Ipv6Pair {
  Ipv6Address source{}, destination{};
};

/// Fields that all frames of a flow share.
struct FrameSpec {
  Mac source_mac{}, destination_mac{};
  std::optional<uint16_t> vlan;  // 802.1Q tag control: priority, DEI, id
  std::variant<Ipv4Pair, Ipv6Pair> addresses;
  uint16_t source_port = 0, destination_port = 0;
  uint8_t ttl = 64;           // or hop limit
  uint8_t traffic_class = 0;  // DSCP and ECN
  bool dont_fragment = true;  // IPv4; without it all datagrams still share identification 0
  bool udp_checksum = true;   // false: sent as zero
};

/// The headers of a flow's frames, complete except for lengths and checksums.
class FrameTemplate {
 public:
  static constexpr size_t kMaxHeaders = kEthernetSize + kVlanSize + kIpv6Size + kUdpSize;

  explicit FrameTemplate(const FrameSpec& spec);

  /// B from the frame's first byte to the UDP payload; ip_headers_size(): IP and UDP headers alone.
  [[nodiscard]] size_t headers_size() const { return size_; }
  [[nodiscard]] size_t ip_headers_size() const { return size_ - ip_; }
  /// B of the frame of an IP datagram of `datagram` B, without Ethernet's padding and FCS.
  [[nodiscard]] size_t frame_size(size_t datagram) const { return ip_ + datagram; }

  /// Writes the headers before a payload at frame + headers_size(), with lengths and checksums for
  /// an IP datagram of `datagram` B (at least ip_headers_size()). Does not read the payload:
  /// `payload_sum` is the sum of its 16-bit words, not folded.
  void write(uint8_t* frame, uint16_t datagram, uint64_t payload_sum) const;
  /// The same with this source port; the template's is 0.
  void write(uint8_t* frame, uint16_t datagram, uint64_t payload_sum, uint16_t source_port) const;

 private:
  std::array<uint8_t, kMaxHeaders> bytes_{};
  uint8_t ip_ = 0;    // offset of the IP header
  uint8_t udp_ = 0;   // of the UDP header
  uint8_t size_ = 0;  // of the payload
  bool ipv6_ = false;
  bool udp_checksum_ = true;
  uint16_t ip_sum_ = 0;   // IPv4 header without total length
  uint16_t udp_sum_ = 0;  // pseudo-header and ports without lengths
};

/// One whole frame with this payload, padded with zeros to an IP datagram of `datagram` B (0: no
/// padding); at most 65535 B. For tests and tools: allocates.
std::vector<uint8_t> build_frame(const FrameSpec& spec, std::span<const uint8_t> payload,
                                 uint16_t datagram = 0);

}  // namespace turnpike::wire
