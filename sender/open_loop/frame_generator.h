// SPDX-License-Identifier: BSD-3-Clause
// Frames of a stream, made from templates; its flows take turns.
#pragma once

#include <cstdint>
#include <vector>

#include "common/config/topology.h"
#include "common/wire/frame_builder.h"
#include "sender/open_loop/probe.h"

namespace turnpike::sender {

/// Flows are UDP source ports, 16384 of them (RFC 6335); where these do not suffice, further source
/// addresses from the nets that are set aside for benchmarks (198.18.0.0/15, RFC 2544; 2001:2::/48,
/// RFC 5180). The destination is the receiving host's.
class FrameGenerator {
 public:
  static constexpr unsigned kPorts = 16384;
  static constexpr uint16_t kFirstPort = 49152;
  /// B, at most, of what write() writes.
  static constexpr size_t kMaxWritten =
      wire::kEthernetSize + wire::kIpv6Size + wire::kUdpSize + Probe::kSize;

  FrameGenerator(const config::Topology& topology, const config::Stream& stream);

  [[nodiscard]] size_t headers_size() const { return templates_.front().headers_size(); }
  [[nodiscard]] size_t frame_size(uint32_t datagram) const {
    return templates_.front().frame_size(datagram);
  }
  /// Writes headers and probe of the next flow's packet at `frame`.
  void write(uint8_t* frame, uint32_t datagram, const Probe& probe);

 private:
  std::vector<wire::FrameTemplate> templates_;  // by source address, source port 0
  unsigned flows_;
  unsigned flow_ = 0, port_ = 0, address_ = 0;  // the next packet's
};

}  // namespace turnpike::sender
