// SPDX-License-Identifier: BSD-3-Clause
#include "router/telemetry/flow_key.h"

#include <algorithm>

#include "common/wire/bytes.h"
#include "common/wire/layers.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::router {
namespace {

constexpr uint8_t kTcp = 6;
constexpr uint16_t kOffsetMask = 0x1fff;  // of a fragment

config::Ipv6 ipv6_at(const uint8_t* p) {
  config::Ipv6 address{};
  std::copy_n(p, address.size(), address.begin());
  return address;
}

size_t mix(size_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

size_t mix(size_t hash, const Address& address) {
  if (const auto* ipv4 = std::get_if<config::Ipv4>(&address)) return mix(hash, *ipv4);
  const uint8_t* bytes = std::get<config::Ipv6>(address).data();
  for (size_t i = 0; i < sizeof(config::Ipv6); i += 4) hash = mix(hash, wire::load_be32(bytes + i));
  return hash;
}

/// Reads what follows the IP header.
void read_ports(std::span<const uint8_t> rest, uint16_t udp_port, FlowOfPacket& out) {
  const bool udp = out.key.protocol == wire::kProtocolUdp;
  if ((!udp && out.key.protocol != kTcp) || rest.size() < 4) return;
  out.key.source_port = wire::load_be16(rest.data());
  out.key.destination_port = wire::load_be16(rest.data() + 2);
  if (!udp || out.key.destination_port != udp_port || rest.size() < wire::kUdpSize) return;
  wire::Header header;
  out.pays = wire::decode_shape(rest.subspan(wire::kUdpSize), header) == wire::HeaderError::kNone &&
             wire::is_request(header.kind);
}

}  // namespace

size_t FlowKeyHash::operator()(const FlowKey& key) const {
  const size_t hash = mix(mix(0, key.source), key.destination);
  return mix(hash,
             uint64_t{key.source_port} << 24 | uint64_t{key.destination_port} << 8 | key.protocol);
}

std::optional<FlowOfPacket> flow_of(std::span<const uint8_t> frame, uint16_t udp_port) {
  if (frame.size() < wire::kEthernetSize + wire::kVlanSize) return {};
  uint16_t type = wire::load_be16(&frame[wire::kEtherTypeAt]);
  frame = frame.subspan(wire::kEthernetSize);
  if (type == wire::kEtherTypeVlan) {
    type = wire::load_be16(&frame[2]);
    frame = frame.subspan(wire::kVlanSize);
  }
  FlowOfPacket out;
  if (type == wire::kEtherTypeIpv4) {
    if (frame.size() < wire::kIpv4Size) return {};
    const size_t header = size_t{4} * (frame[0] & 0xfU);
    out.key.source = wire::load_be32(&frame[wire::kIpv4SourceAt]);
    out.key.destination = wire::load_be32(&frame[wire::kIpv4DestinationAt]);
    out.key.protocol = frame[wire::kIpv4ProtocolAt];
    const bool later = (wire::load_be16(&frame[wire::kIpv4FragmentAt]) & kOffsetMask) != 0;
    if (!later && header >= wire::kIpv4Size && header <= frame.size())
      read_ports(frame.subspan(header), udp_port, out);
    return out;
  }
  if (type != wire::kEtherTypeIpv6 || frame.size() < wire::kIpv6Size) return {};
  out.key.source = ipv6_at(&frame[wire::kIpv6SourceAt]);
  out.key.destination = ipv6_at(&frame[wire::kIpv6DestinationAt]);
  out.key.protocol = frame[wire::kIpv6NextHeaderAt];
  read_ports(frame.subspan(wire::kIpv6Size), udp_port, out);
  return out;
}

}  // namespace turnpike::router
