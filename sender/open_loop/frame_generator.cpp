// SPDX-License-Identifier: BSD-3-Clause
#include "sender/open_loop/frame_generator.h"

#include "common/wire/bytes.h"

namespace turnpike::sender {
namespace {

constexpr wire::Ipv4Address kBenchmarkNet = 0xc6120000;  // 198.18.0.0/15
constexpr wire::Ipv6Address kBenchmarkNet6{0x20, 0x01, 0x00, 0x02};

wire::FrameSpec spec_of(const config::Topology& t, const config::Stream& s, unsigned address) {
  const config::Host& from = t.hosts[s.from];
  const config::Interface &own = t.interface_of(from), &peer = t.interface_of(t.hosts[s.to]);
  wire::FrameSpec spec;
  spec.source_mac = own.mac;
  spec.destination_mac = t.links[from.link].ends[1 - from.end].mac;
  spec.destination_port = config::kStreamPort;
  spec.traffic_class = static_cast<uint8_t>(s.dscp << 2);
  if (s.ip_version == 6) {
    wire::Ipv6Pair pair{own.ipv6.address, peer.ipv6.address};
    if (address > 0) {
      pair.source = kBenchmarkNet6;
      wire::store_be32(pair.source.data() + 12, address);
    }
    spec.addresses = pair;
  } else {
    spec.addresses = wire::Ipv4Pair{address == 0 ? own.ipv4.address : kBenchmarkNet + address,
                                    peer.ipv4.address};
  }
  return spec;
}

}  // namespace

FrameGenerator::FrameGenerator(const config::Topology& topology, const config::Stream& stream)
    : flows_(stream.flows) {
  const unsigned addresses = (flows_ + kPorts - 1) / kPorts;
  templates_.reserve(addresses);
  for (unsigned a = 0; a < addresses; ++a) templates_.emplace_back(spec_of(topology, stream, a));
}

void FrameGenerator::write(uint8_t* frame, uint32_t datagram, const Probe& probe) {
  const wire::FrameTemplate& headers = templates_[address_];
  const auto port = static_cast<uint16_t>(kFirstPort + port_);
  const uint64_t sum = store(probe, frame + headers.headers_size());
  headers.write(frame, static_cast<uint16_t>(datagram), sum, port);
  if (++port_ == kPorts) {
    port_ = 0;
    ++address_;
  }
  if (++flow_ == flows_) flow_ = port_ = address_ = 0;
}

}  // namespace turnpike::sender
