// SPDX-License-Identifier: BSD-3-Clause
// An attacker in the lab who reads the packets of a link while they are on their way, and adds
// others to them.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "common/wire/checksum.h"
#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"
#include "lab/simulator/world.h"
#include "tests/support/eal.h"

namespace turnpike::lab::gateway_attack_test {

using Frame = std::vector<uint8_t>;

/// A Turnpike packet of a frame, taken apart.
struct TunnelPacket {
  wire::FrameSpec spec;
  wire::Header header;
  std::vector<uint8_t> bytes;  // of the UDP payload: the header's, then those behind it

  [[nodiscard]] std::span<uint8_t> congestion() {
    return std::span(bytes).subspan(wire::kHeaderSize, header.length - wire::kHeaderSize);
  }
  /// The whole frame with the header and the bytes as they are now, and right checksums.
  [[nodiscard]] Frame frame() const {
    std::vector<uint8_t> payload = bytes;
    wire::encode(header, payload.data());
    return wire::build_frame(spec, payload);
  }
};

/// Nothing: the frame is no Turnpike packet over IPv4.
inline std::optional<TunnelPacket> read_tunnel_packet(std::span<const uint8_t> frame) {
  wire::UdpFrame at;
  if (wire::locate_udp(frame, at) != wire::FrameError::kNone || at.ipv6) return std::nullopt;
  TunnelPacket p;
  const uint8_t* const f = frame.data();
  p.bytes.assign(f + at.payload, f + at.payload + at.payload_size);
  if (wire::decode(p.bytes, p.header) != wire::HeaderError::kNone) return std::nullopt;
  std::copy_n(f, wire::kMacSize, p.spec.destination_mac.begin());
  std::copy_n(f + wire::kMacSize, wire::kMacSize, p.spec.source_mac.begin());
  p.spec.addresses = wire::Ipv4Pair{wire::load_be32(f + at.ip + wire::kIpv4SourceAt),
                                    wire::load_be32(f + at.ip + wire::kIpv4DestinationAt)};
  p.spec.source_port = wire::load_be16(f + at.udp + wire::kUdpSourceAt);
  p.spec.destination_port = wire::load_be16(f + at.udp + wire::kUdpDestinationAt);
  return p;
}

/// At one direction of a link of a world that one thread plays.
class LinkAttacker {
 public:
  /// `from`: the end that the direction leads from.
  LinkAttacker(World& world, size_t link, size_t from)
      : world_(world), line_(world.link(link).line(from)) {}

  /// Copies of the frames that are on their way to each queue of the receiver, the next one to
  /// arrive there first.
  std::vector<Frame> read() {
    std::vector<Frame> all;
    for (size_t queue = 0; queue < line_.queues(); ++queue)
      line_.read(queue, [&](const rte_mbuf& m) { all.push_back(testing::bytes_of(&m)); });
    return all;
  }
  /// Sends a frame, which arrives with the next poll of the receiver.
  void send(std::span<const uint8_t> frame) {
    if (frame.empty()) return;
    rte_mbuf* const m = testing::make_mbuf(frame);
    if (m == nullptr) return;
    sent_ += frame.size();
    line_.inject(m, world_.now());
  }
  /// B sent so far.
  [[nodiscard]] uint64_t sent() const { return sent_; }

 private:
  World& world_;
  SimChannel& line_;
  uint64_t sent_ = 0;
};

}  // namespace turnpike::lab::gateway_attack_test
