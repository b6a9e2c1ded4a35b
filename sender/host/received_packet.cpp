// SPDX-License-Identifier: BSD-3-Clause
#include "sender/host/received_packet.h"

#include <cstring>

#include "common/wire/bytes.h"

namespace turnpike::sender {

PacketKind read_packet(const uint8_t* frame, uint16_t udp_port, ReceivedPacket& out) {
  const uint16_t from = wire::load_be16(frame + out.at.udp + wire::kUdpSourceAt);
  const uint16_t to = wire::load_be16(frame + out.at.udp + wire::kUdpDestinationAt);
  if (from != udp_port && to != udp_port) return PacketKind::kForeign;
  wire::Header& header = out.header;
  if (wire::decode({frame + out.at.payload, out.at.payload_size}, header) !=
      wire::HeaderError::kNone) {
    return PacketKind::kBad;
  }
  out.protocol = find_protocol(header.protocol);
  if (out.protocol == nullptr ||
      header.length != wire::header_length(out.protocol->header_size, header.ranges)) {
    return PacketKind::kBad;
  }
  if (wire::is_request(header.kind))
    return to == udp_port && header.ranges == 0 ? PacketKind::kRequest : PacketKind::kBad;
  return from == udp_port ? PacketKind::kAnswer : PacketKind::kBad;
}

FlowKey flow_key(const uint8_t* frame, const ReceivedPacket& arrival) {
  const wire::UdpFrame& at = arrival.at;
  FlowKey key{.flow = arrival.header.flow,
              .port = wire::load_be16(frame + at.udp + wire::kUdpSourceAt),
              .ip_version = at.ipv6 ? uint16_t{6} : uint16_t{4}};
  const size_t source = at.ipv6 ? wire::kIpv6SourceAt : wire::kIpv4SourceAt;
  std::memcpy(key.source.data(), frame + at.ip + source, at.ipv6 ? 16 : 4);
  return key;
}

AckInfo ack_info(const uint8_t* frame, const ReceivedPacket& arrival,
                 std::array<wire::SeqRange, wire::kMaxRanges>& ranges) {
  const uint8_t* payload = frame + arrival.at.payload;
  const wire::Header& header = arrival.header;
  for (size_t i = 0; i < header.ranges; ++i) ranges[i] = wire::load_range(header, payload, i);
  return {.kind = header.kind,
          .sequence = header.sequence,
          .acknowledgement = header.acknowledgement,
          .echo = header.echo,
          .token = header.token,
          .ranges = {ranges.data(), header.ranges},
          .congestion = payload + wire::kHeaderSize};
}

}  // namespace turnpike::sender
