// SPDX-License-Identifier: BSD-3-Clause
// Any packets of a customer and any packets of a peer, true and false ones, at a gateway whose
// tunnels are in the clear and at one whose are sealed: every packet is accounted for, every buffer
// comes back, nothing from a tunnel reaches the core, and nothing that is not authentic leaves one.
//
// The input begins with a byte that selects the gateway, a sequence of steps follows: a byte of
// control, the time that passes, then what the step needs. Control: bits 0-2 what happens, bit 3
// whether a frame is spoiled, 4-7 how many.
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/protocols/fcp/header.h"
#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"
#include "router/gateway/gateway.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/router_machine.h"
#include "tests/support/router_topology.h"

namespace {

using namespace turnpike;
using fuzz::Input;
using fuzz::require;
namespace test = router::test;

constexpr uint32_t kCustomer = 0x0a000102, kGateway = 0x0a000201, kPeer = 0x0a000202,
                   kFar = 0xac100001;
constexpr size_t kHeaders = wire::kEthernetSize + wire::kIpv4Size + wire::kUdpSize;

config::Topology with_gateway(bool sealed) {
  config::Topology t = test::topology();
  t.customers.push_back({.name = "acme", .budget = Budget(2)});
  t.ipv4_customers.push_back({{0x0a000100, 24}, 0});
  config::Gateway& g = test::add_gateway(t);
  g.limit = Bytes(100'000);
  if (sealed) {
    g.security = config::GatewaySecurity{.key_file = "none"};
    g.silent_peer = config::SilentPeer::kDrop;
    g.peers[0].keys.emplace_back(std::vector<uint8_t>(SecretBytes::kMaxSize, 7));
  }
  return t;
}

struct Machine : fuzz::RouterMachine {
  Machine() : RouterMachine("gateway_fuzz", with_gateway(false)) {
    for (const bool sealed : {false, true}) {
      auto made = gateway::Gateway::make(topologies[sealed], 0,
                                         {.pool = bench->pool.get(), .populated = false});
      require(made.has_value(), "a gateway is made");
      gateways[sealed] = std::move(*made);
    }
    // The peer's end.
    wire::FrameSpec frame;
    frame.addresses = wire::Ipv4Pair{kPeer, kGateway};
    frame.destination_port = topologies[1].run.udp_port;
    const config::Gateway& g = topologies[1].gateways[0];
    auto keys = gateway::KeyRing::make(g, g);
    require(keys.has_value(), "keys are made");
    seal.emplace(std::move(*keys), std::span(&frame, 1), /*start=*/1);
  }
  void begin(bool sealed) {
    gateway = gateways[sealed].get();
    router->worker(0).set_tunnels(&gateway->shard(0));
    token = 0;
    recent = {};
    released = gateway->total(&gateway::GatewayTotals::released_bytes);
    offered = 0;
  }

  void put(size_t link, std::span<const uint8_t> frame) {
    rte_mbuf* m = rte_pktmbuf_alloc(bench->pool.get());
    if (m == nullptr) return;
    std::memcpy(rte_pktmbuf_append(m, static_cast<uint16_t>(frame.size())), frame.data(),
                frame.size());
    if (!ports[link][0].put(m)) rte_pktmbuf_free(m);
  }
  /// Polls, and reads what the gateway sends to its peer.
  void run() {
    router->worker(0).poll(now);
    for (size_t l = 0; l < ports.size(); ++l)
      ports[l][0].take([&](const rte_mbuf& m) { sent(l, m); });
  }
  void sent(size_t link, const rte_mbuf& m) {
    const auto* frame = rte_pktmbuf_mtod(&m, const uint8_t*);
    wire::Header header;
    if (link != test::kRight || m.data_len < kHeaders + wire::kHeaderSize ||
        wire::decode({frame + kHeaders, m.data_len - kHeaders}, header) != wire::HeaderError::kNone)
      return;
    if (header.kind == wire::Kind::kSynAck) token = header.token;
    if (wire::is_request(header.kind)) {
      std::memmove(recent.data() + 1, recent.data(), (recent.size() - 1) * sizeof recent[0]);
      recent[0] = header;
    }
  }

  std::array<config::Topology, 2> topologies{with_gateway(false), with_gateway(true)};
  std::array<std::unique_ptr<gateway::Gateway>, 2> gateways;  // in the clear, sealed
  gateway::Gateway* gateway = nullptr;                        // of the present input
  std::optional<gateway::Seal> seal;                          // of the peer
  uint64_t released = 0, offered = 0;       // B before the input; B of datagrams sealed by the peer
  uint32_t token = 0;                       // of the peer's own flow
  std::array<wire::Header, 8> recent = {};  // newest first
};

Machine* machine;

/// An inner datagram of `size` B, or bytes that are none.
std::vector<uint8_t> datagram(uint32_t from, uint32_t to, uint16_t size, Input& in, bool spoil) {
  wire::FrameSpec spec;
  spec.addresses = wire::Ipv4Pair{from, to};
  spec.source_port = 1000;
  spec.destination_port = 2000;
  spec.traffic_class = in.byte() & 3;
  auto frame = wire::build_frame(spec, {}, std::max<uint16_t>(size, 28));
  frame.erase(frame.begin(), frame.begin() + wire::kEthernetSize);
  if (spoil) frame[in.below(frame.size())] ^= in.byte();
  return frame;
}

std::vector<uint8_t> turnpike_frame(const wire::Header& header, std::span<const uint8_t> payload,
                                    Input& in, bool spoil) {
  wire::FrameSpec spec;
  spec.destination_mac = test::router_mac(test::kRight);
  spec.addresses = wire::Ipv4Pair{kPeer, kGateway};
  const uint16_t port = config::Topology{}.run.udp_port;
  const bool request = wire::is_request(header.kind);
  spec.source_port = request ? 50000 : port;
  // An answer goes to the flow's port: one of sixteen.
  spec.destination_port = request ? port : static_cast<uint16_t>(49152 + in.below(16));
  spec.traffic_class = in.byte() & 3;
  std::vector<uint8_t> bytes(header.length);
  wire::encode(header, bytes.data());
  const auto congestion = std::span(bytes).subspan(wire::kHeaderSize, fcp::kHeaderSize);
  fcp::store({.rtt_ns = 20'000'000, .reserve = 2e-6F, .balance = 1e-6F, .slot = 1e-3F},
             congestion.data());
  std::vector<uint8_t> text(payload.begin(), payload.end());
  if (machine->gateway->sealed() && !text.empty() && in.below(8) != 0) {
    machine->offered += text.size();
    text.insert(text.begin(), gateway::Seal::kFront, 0);
    text.resize(text.size() + AesGcm::kTagSize);
    const bool done = machine->seal->seal(
        0, text,
        {.common = bytes.data(), .sequence = header.sequence, .source_port = spec.source_port});
    require(done, "the peer seals");
    if (spoil && in.below(2) != 0) text[in.below(text.size())] ^= in.byte();
  }
  if (machine->gateway->sealed() && !request && in.below(8) != 0) {
    text.assign(gateway::Seal::kOverhead, 0);
    const gateway::Seal::Answer answer{.headers = bytes, .port = spec.destination_port};
    require(machine->seal->seal(0, text, answer), "the peer seals answers");
  }
  if (spoil) in.spoil(bytes);
  bytes.insert(bytes.end(), text.begin(), text.end());
  return wire::build_frame(spec, bytes);
}

wire::Header request(wire::Kind kind, uint32_t sequence) {
  return {.kind = kind,
          .protocol = fcp::kProtocolId,
          .length = wire::header_length(fcp::kHeaderSize, 0),
          .flow = 1,
          .sequence = sequence,
          .timestamp = 1,
          .token = machine->token};
}

/// The peer's answer to one of the gateway's recent packets.
wire::Header answer(const wire::Header& to) {
  const wire::Kind kind = to.kind == wire::Kind::kSyn   ? wire::Kind::kSynAck
                          : to.kind == wire::Kind::kFin ? wire::Kind::kFinAck
                                                        : wire::Kind::kAck;
  return {.kind = kind,
          .protocol = fcp::kProtocolId,
          .length = wire::header_length(fcp::kHeaderSize, 0),
          .flow = to.flow,
          .sequence = to.sequence,
          .echo = to.timestamp,
          .token = 7};
}

void step(Input& in) {
  const uint8_t control = in.byte();
  machine->now += in.time();
  const bool spoil = (control & 8) != 0;
  const unsigned many = (control >> 4) + 1;
  for (unsigned n = 0; n < many; ++n) switch (control & 7) {
      case 0:
      case 1: {  // a customer's packet
        auto ip = datagram(kCustomer, kFar, static_cast<uint16_t>(in.byte() * 7), in, spoil);
        std::vector<uint8_t> frame(wire::kEthernetSize);
        const auto mac = test::router_mac(test::kLeft);
        std::copy(mac.begin(), mac.end(), frame.begin());
        wire::store_be16(&frame[wire::kEtherTypeAt], wire::kEtherTypeIpv4);
        frame.insert(frame.end(), ip.begin(), ip.end());
        machine->put(test::kLeft, frame);
        break;
      }
      case 2:
      case 3:  // an answer
        machine->put(test::kRight,
                     turnpike_frame(answer(machine->recent[in.below(8)]), {}, in, spoil));
        break;
      case 4:
        machine->put(test::kRight, turnpike_frame(request(wire::Kind::kSyn, 0), {}, in, spoil));
        break;
      case 5:
        machine->put(test::kRight,
                     turnpike_frame(request(wire::Kind::kFin, in.byte()), {}, in, spoil));
        break;
      default: {  // data with up to three datagrams
        std::vector<uint8_t> payload;
        const size_t count = in.below(4);
        for (size_t k = 0; k < count; ++k) {
          // To the customer, to the core, to the gateway itself.
          constexpr std::array<uint32_t, 4> kTo{kCustomer, kCustomer, kFar, kGateway};
          const auto ip = datagram(kFar, kTo[in.below(4)], in.byte(), in, spoil);
          payload.insert(payload.end(), ip.begin(), ip.end());
        }
        machine->put(test::kRight,
                     turnpike_frame(request(wire::Kind::kData, in.byte()), payload, in, spoil));
      }
    }
  machine->run();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  machine = new Machine();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input in(data, size);
  machine->begin((in.byte() & 1) != 0);
  for (int n = 0; n < 64 && !in.empty(); ++n) step(in);
  require(machine->router->snapshot().conserved(), "every packet is accounted for");
  const uint64_t released =
      machine->gateway->total(&gateway::GatewayTotals::released_bytes) - machine->released;
  require(!machine->gateway->sealed() || released <= machine->offered,
          "what leaves a sealed tunnel was sealed");
  // The peer does not answer any more: the datagrams that wait are sent or dropped. Time-outs are
  // 60 s at most.
  for (int n = 0; n < 60; ++n) {
    machine->now += 30_s;
    machine->run();
  }
  require(machine->gateway->tunnels(0)[0]->waiting() == 0, "nothing waits for ever");
  for (int n = 0; n < 1000 && machine->router->held() > 0; ++n) {
    machine->now += 2_ms;
    machine->run();
  }
  require(machine->router->held() == 0, "nothing is held for ever");
  require(machine->bench->pool.in_use() == 0, "every buffer came back");
  return 0;
}
