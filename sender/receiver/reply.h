// SPDX-License-Identifier: BSD-3-Clause
// Turns a received packet into its reply, in the same buffer.
#pragma once

#include <span>

#include "common/wire/layers.h"
#include "sender/receiver/receiver.h"

struct rte_mbuf;

namespace turnpike::sender {

/// Swaps source and destination, writes `reply` into the Turnpike header and removes the payload.
/// The congestion header stays: it is the feedback. `at` and `header`: the parsers' results for the
/// frame, which has one segment. `payload`: B that the caller writes behind the headers, and whose
/// sum add_to_checksum() takes. False: the buffer has no room for the ranges and the payload.
bool write_reply(rte_mbuf& m, const wire::UdpFrame& at, const wire::Header& header,
                 const Reply& reply, uint16_t payload = 0);

/// Adds a payload, a multiple of four bytes, to the checksum of a frame whose UDP header is there.
void add_to_checksum(uint8_t* udp, std::span<const uint8_t> payload);

}  // namespace turnpike::sender
