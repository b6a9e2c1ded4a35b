// SPDX-License-Identifier: BSD-3-Clause
// Builds a stream's frames from templates, for its flows in turn.
#pragma once

#include <cstdint>
#include <vector>

#include "common/config/topology.h"
#include "common/wire/frame_builder.h"
#include "sender/open_loop/probe.h"

namespace turnpike::sender {

/// Flows differ in their UDP source port, one of 16384 dynamic ports (RFC 6335). More flows use
/// further source addresses from the prefixes reserved for benchmarks (198.18.0.0/15, RFC 2544;
/// 2001:2::/48, RFC 5180). The destination is the receiving host's address.
class FrameGenerator {
 public:
  static constexpr unsigned kPorts = 16384;
  static constexpr uint16_t kFirstPort = 49152;
  /// Upper bound in B of the bytes that write() writes.
  static constexpr size_t kMaxWritten =
      wire::kEthernetSize + wire::kIpv6Size + wire::kUdpSize + Probe::kSize;

  FrameGenerator(const config::Topology& topology, const config::Stream& stream);

  [[nodiscard]] size_t headers_size() const { return templates_.front().headers_size(); }
  [[nodiscard]] size_t frame_size(uint32_t datagram) const {
    return templates_.front().frame_size(datagram);
  }
  /// Writes headers and probe of a packet of the next flow at `frame`; `datagram`: size in B.
  void write(uint8_t* frame, uint32_t datagram, const Probe& probe);

 private:
  std::vector<wire::FrameTemplate> templates_;  // by source address, source port 0
  unsigned flows_;
  unsigned flow_ = 0, port_ = 0, address_ = 0;  // of the next packet
};

}  // namespace turnpike::sender
