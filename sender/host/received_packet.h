// SPDX-License-Identifier: BSD-3-Clause
// A received Turnpike packet: where its headers are and what they say.
#pragma once

#include <array>
#include <span>

#include "common/protocols/registry.h"
#include "common/wire/layers.h"
#include "common/wire/turnpike_header.h"
#include "sender/receiver/receiver.h"
#include "sender/recovery/acknowledge.h"

namespace turnpike::sender {

struct ReceivedPacket {
  wire::UdpFrame at;
  wire::Header header;
  const Protocol* protocol = nullptr;
};

enum class PacketKind : uint8_t {
  kBad,      // a header that is cut short or contradicts itself
  kForeign,  // neither port is that of Turnpike
  kRequest,  // to a receiver: SYN, data, FIN
  kAnswer,   // to a source
};

/// Reads the Turnpike header of a frame in which locate_udp() has found `out.at`.
PacketKind read_packet(const uint8_t* frame, uint16_t udp_port, ReceivedPacket& out);

/// The flow of a request.
FlowKey flow_key(const uint8_t* frame, const ReceivedPacket& arrival);

/// The fields of an answer. `ranges` holds its ranges; both refer to the frame.
AckInfo ack_info(const uint8_t* frame, const ReceivedPacket& arrival,
                 std::array<wire::SeqRange, wire::kMaxRanges>& ranges);

}  // namespace turnpike::sender
