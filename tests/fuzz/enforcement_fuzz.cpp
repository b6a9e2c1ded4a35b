// SPDX-License-Identifier: BSD-3-Clause
// Any congestion headers, sizes and pauses of a customer whose budget an edge router with two
// workers enforces: what it may spend is bounded, every packet is accounted for.
//
// The input is a sequence of bursts: a byte of control, the time that passes, then for each packet
// a size and changes of its header. Control: bits 0-2 packets, 3 worker, 4 kind (data, or SYN, ACK,
// plain UDP), 5 direction.
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/params.h"
#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/router_machine.h"
#include "tests/support/router_topology.h"

namespace {

using namespace turnpike;
using namespace turnpike::router;
using fuzz::Input;
using fuzz::require;

constexpr double kBudget = 2, kTolerance = 0.05;  // $/s

config::Topology edge() {
  config::Topology t = test::topology();
  t.customers.push_back({.name = "acme", .budget = Budget(kBudget)});
  t.ipv4_customers.push_back({{0x0a000100, 24}, 0});
  for (config::Link& link : t.links)
    for (config::Direction& d : link.directions) {
      if (d.law.protocol != "fcp") continue;
      d.law.params = preset_values(*find_protocol("fcp"), /*link=*/true, "turnpike");
      d.law.params[fcp::kAudit] = 1;
    }
  t.routers[0].enforcement = {.links = {test::kLeft},
                              .tolerance = kTolerance,
                              .burst = 250_ms,
                              .promise_burst = 250_ms,
                              .unpriced_burst = 20_ms};
  return t;
}

struct Machine : fuzz::RouterMachine {
  using RouterMachine::RouterMachine;

  /// Packets of the customer that were dropped over its budget.
  [[nodiscard]] uint64_t refused() const {
    uint64_t n = 0;
    for (const auto& c : router->customers())
      for (const uint64_t packets : c.packets) n += packets;
    return n;
  }
};

Machine* machine;

enum class Kind : uint8_t { kData, kSyn, kAck, kUdp };

std::vector<uint8_t> frame_of(Kind kind, bool back, uint16_t datagram, Input& in) {
  wire::FrameSpec spec;
  spec.destination_mac = test::router_mac(back ? test::kRight : test::kLeft);
  const uint32_t left = 0x0a000102, right = 0x0a000202;
  spec.addresses = wire::Ipv4Pair{back ? right : left, back ? left : right};
  spec.source_port = 5000;
  std::vector<uint8_t> payload;
  if (kind != Kind::kUdp) {
    spec.destination_port = config::Topology{}.run.udp_port;
    const bool ack = kind == Kind::kAck;
    payload.resize(wire::header_length(ack ? 0 : fcp::kHeaderSize, 0));
    wire::encode({.kind = ack                  ? wire::Kind::kAck
                          : kind == Kind::kSyn ? wire::Kind::kSyn
                                               : wire::Kind::kData,
                  .protocol = ack ? uint8_t{0} : fcp::kProtocolId,
                  .length = static_cast<uint16_t>(payload.size()),
                  .flow = 1,
                  .sequence = 1},
                 payload.data());
    if (!ack) {
      const std::span header = std::span(payload).subspan(wire::kHeaderSize);
      fcp::store({.rtt_ns = 20'000'000, .reserve = 2e-6F, .balance = 1e-6F, .slot = 1e-3F},
                 header.data());
      in.spoil(header);
    }
  }
  return wire::build_frame(spec, payload, datagram);
}

/// Seconds of the budget that a data packet pays, for packets whose payment is a number.
double seconds_of(std::span<const uint8_t> frame, uint32_t size) {
  const size_t at = frame.size() < 14 + 20 + 8 + wire::kHeaderSize + fcp::kHeaderSize
                        ? 0
                        : 14 + 20 + 8 + wire::kHeaderSize;
  if (at == 0) return 0;
  const double paid = double{wire::load_f32(&frame[at + fcp::kBalanceOffset])} * size;
  return paid > 0 && std::isfinite(paid) ? paid / (kBudget * (1 + kTolerance)) : 0;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  machine = new Machine("enforcement_fuzz", edge());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input in(data, size);
  const Nanos begin = machine->now;
  double spent = 0;  // s of the budget, by data packets that were admitted
  for (int n = 0; n < 64 && !in.empty(); ++n) {
    const uint8_t control = in.byte();
    machine->now += in.time();
    const unsigned worker = control >> 3 & 1;
    const Kind kind = (control & 16) == 0 ? Kind::kData : static_cast<Kind>(1 + control % 3);
    const bool back = (control & 32) != 0;
    for (unsigned k = 0; k <= (control & 7U); ++k) {
      const auto datagram = static_cast<uint16_t>(100 + in.byte() * 5);
      const auto frame = frame_of(kind, back, datagram, in);
      rte_mbuf* m = rte_pktmbuf_alloc(machine->bench->pool.get());
      require(m != nullptr, "there are buffers");
      std::memcpy(rte_pktmbuf_append(m, static_cast<uint16_t>(frame.size())), frame.data(),
                  frame.size());
      require(machine->ports[back ? test::kRight : test::kLeft][worker].put(m), "a port has room");
      if (kind != Kind::kData || back) continue;
      // Alone, so that its verdict is known.
      const uint64_t before = machine->refused();
      machine->poll();
      if (machine->refused() == before) spent += seconds_of(frame, datagram);
    }
    machine->poll();
  }
  // A packet costs at most 4 s, and is admitted while the debt is at most twice its cost: a worker
  // admits 12 s at once, two of them 24 s.
  const double passed = to_seconds(machine->now - begin);
  require(spent <= passed + 24 + 1, "a customer spends what it has");
  require(machine->router->snapshot().conserved(), "every packet is accounted for");
  for (int i = 0; i < 1000 && machine->router->held() > 0; ++i) {
    machine->now += 2_ms;
    machine->poll();
  }
  require(machine->router->held() == 0, "nothing is held for ever");
  require(machine->bench->pool.in_use() == 0, "every buffer came back");
  for (const LinkSnapshot& link : machine->router->snapshot().links)
    for (const Gauge& g : link.gauges) require(std::isfinite(g.value), "gauges are numbers");
  return 0;
}
