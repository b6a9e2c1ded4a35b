// SPDX-License-Identifier: BSD-3-Clause
// Finds the congestion header that the egress link's law may stamp.
#include "common/wire/bytes.h"
#include "router/datapath/ingress/parse.h"
#include "router/datapath/ingress/segments.h"

namespace turnpike::router {

namespace {

DropReason reason_for(wire::HeaderError e) {
  switch (e) {
    case wire::HeaderError::kNone:
      return DropReason::kNone;
    case wire::HeaderError::kVersion:
      return DropReason::kTurnpikeVersion;
    case wire::HeaderError::kKind:
      return DropReason::kTurnpikeKind;
    case wire::HeaderError::kTruncated:
    case wire::HeaderError::kLength:
      break;
  }
  return DropReason::kTurnpikeLength;
}

bool travels_forward(wire::Kind k) {
  return k == wire::Kind::kData || k == wire::Kind::kSyn || k == wire::Kind::kFin;
}

}  // namespace

DropReason parse_turnpike(rte_mbuf& m, PacketInfo& p, const Tables& tables) {
  const uint8_t* udp = frame_of(&m) + p.l4;
  const uint32_t end = uint32_t{p.l3} + p.datagram;
  // The receiver handles truncated UDP; without ports the packet cannot be Turnpike's.
  if (p.l4 + wire::kUdpSize > end || p.l4 + wire::kUdpSize > m.data_len) return DropReason::kNone;
  const uint16_t port = tables.udp_port();
  if (wire::load_be16(udp + wire::kUdpDestinationAt) != port &&
      wire::load_be16(udp + wire::kUdpSourceAt) != port) {
    return DropReason::kNone;
  }
  const uint16_t length = wire::load_be16(udp + wire::kUdpLengthAt);
  if (length < wire::kUdpSize || p.l4 + uint32_t{length} > end) return DropReason::kTurnpikeLength;

  const uint32_t payload = p.l4 + static_cast<uint32_t>(wire::kUdpSize);
  const uint32_t size = length - static_cast<uint32_t>(wire::kUdpSize);
  if (m.data_len < payload + size) {
    if (!join_front(&m, payload + std::min<uint32_t>(size, wire::kMaxHeaderLength)))
      return DropReason::kScatteredHeaders;
  }
  const uint8_t* data = frame_of(&m) + payload;
  wire::Header h;
  const auto error = wire::decode_shape({data, std::min<uint32_t>(size, m.data_len - payload)}, h);
  if (error != wire::HeaderError::kNone) return reason_for(error);
  const uint8_t congestion = tables.congestion_size(h.protocol);
  if (congestion == 0) return DropReason::kUnknownProtocol;
  p.flags |= kTurnpike;
  p.protocol = h.protocol;
  // Only packets towards the receiver are priced; the router ignores the rest of other headers.
  if (!travels_forward(h.kind)) return DropReason::kNone;
  if (h.length < wire::header_length(congestion, h.ranges)) return DropReason::kTurnpikeLength;
  p.congestion = static_cast<uint16_t>(payload + wire::kHeaderSize);
  if (h.kind == wire::Kind::kSyn) p.flags |= kOpens;
  return DropReason::kNone;
}

}  // namespace turnpike::router
