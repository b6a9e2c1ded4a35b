// SPDX-License-Identifier: BSD-3-Clause
// The headers of a flow's packets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/protocols/registry.h"
#include "common/wire/layers.h"
#include "common/wire/turnpike_header.h"

namespace turnpike {

/// B of a packet before its payload, from the IP header on.
inline uint32_t packet_headers(const Protocol& protocol, unsigned ip_version) {
  const size_t ip = ip_version == 6 ? wire::kIpv6Size : wire::kIpv4Size;
  return static_cast<uint32_t>(ip + wire::kUdpSize + wire::header_length(protocol.header_size, 0));
}

}  // namespace turnpike
