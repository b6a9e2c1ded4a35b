// SPDX-License-Identifier: BSD-3-Clause
// Three customers of a gateway, of whom mallory attacks: she may read and write the core's links.
//
//   anna ----+
//   bert ----+-- west ==1 Gbps== middle ==100 Mbps== east -- server
//   mallory -+
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/units/instrumented.h"
#include "tests/support/gateway_lies.h"
#include "tests/support/gateway_world.h"
#include "tests/support/link_attacker.h"

namespace turnpike::lab::gateway_attack_test {

constexpr size_t kMallorysLink = 2, kWestMiddle = 3, kBottleneck = 4;
constexpr size_t kCustomers = 2;               // beside mallory: anna, bert
constexpr size_t kMallory = 2;                 // customer
constexpr double kBottleneckRate = 100e6 / 8;  // B/s
constexpr Nanos kAttack = 500_ms, kFrom = 1_s, kTo = kInstrumented ? 2_s : 3_s, kStep = 1_ms;
// Bounds: 99 % of the share; no later than without the attack, up to 1 % or the time
// that a full tunnel packet takes on the bottleneck.
constexpr double kShare = 0.99, kLate = 0.01;
constexpr Nanos kPacket = from_seconds(1640 / kBottleneckRate);

inline std::string topology_text() {
  std::string text =
      "run: { duration: 60 s, seed: 1 }\n"
      "hosts: { anna: { budget: 1 $/s, addresses: [10.9.1.2/24] }, bert: { budget: 1 $/s, "
      "addresses: [10.9.2.2/24] }, mallory: { budget: 1 $/s, addresses: [10.9.3.2/24] }, server: "
      "{ budget: 1 $/s, addresses: [10.9.9.2/24] } }\n"
      "routers: { west: {}, middle: {}, east: {} }\n"
      "links:\n";
  const auto add = [&text](std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) text += part;
  };
  for (const std::string_view host : {"anna", "bert", "mallory"})
    add({"  ", host, "-west: { ends: [", host,
         ", west], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"});
  text +=
      "  west-middle: { ends: [west, middle], rate: 1 Gbps, delay: 1 ms, buffer: 1 MB, law: fcp, "
      "mtu: 1640 }\n"
      "  bottleneck: { ends: [middle, east], rate: 100 Mbps, delay: 4 ms, buffer: 1 MB, law: fcp, "
      "mtu: 1640 }\n"
      "  east-server: { ends: [east, server], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
      "customers:\n";
  for (const std::string_view customer : {"anna", "bert", "mallory"})
    add({"  ", customer, ": { link: ", customer, "-west, budget: 1 $/s }\n"});
  text +=
      "  server: { link: east-server, budget: 3 $/s }\n"
      "gateways: { west: { core: west-middle, peers: { east: {} } }, east: { core: bottleneck, "
      "peers: { west: {} } } }\n"
      "traffic:\n  streams:\n";
  for (const std::string_view host : {"anna", "bert", "mallory"})
    add({"    bulk-", host, ": { from: ", host,
         ", to: server, rate: { l2: 80 Mbps }, frames: { sizes: 1400 B }, flows: 4 }\n"});
  for (const std::string_view host : {"anna", "bert"})
    add({"    ping-", host, ": { from: ", host,
         ", to: server, ip_version: 6, rate: { packets: 500 /s }, frames: { sizes: 128 B } }\n"});
  text += "  workloads:\n";
  for (const std::string_view host : {"anna", "bert"})
    add({"    request-", host, ": { from: ", host,
         ", to: server, protocol: tcp, arrivals: { poisson: 200 /s }, size: { fixed: 1000 B } "
         "}\n"});
  return text;
}

/// How long each request took.
struct Requests final : sender::OutcomeSink {
  std::array<std::vector<Nanos>, kCustomers> took;
  uint64_t unfinished = 0;
  void flow_ended(const sender::FlowOutcome& outcome) override {
    if (outcome.start < kFrom || outcome.start > kTo - 200_ms) return;
    took[outcome.source].push_back(outcome.end - outcome.start);
    unfinished += outcome.completed ? 0 : 1;
  }
  Nanos p99(size_t customer) {
    std::vector<Nanos>& all = took[customer];
    std::ranges::sort(all);
    return all.empty() ? kNever : all[all.size() - 1 - all.size() / 100];
  }
};

struct Figures {
  std::array<double, kCustomers> rate{};            // B/s of bulk at the server
  std::array<Nanos, kCustomers> ping{}, request{};  // p99
};

/// Packets of tunnels that mallory has read.
struct Seen {
  std::vector<TunnelPacket> data, answers;  // west's, and to west
};

class GatewayAttack : public ::testing::TestWithParam<bool> {
 protected:
  using Attack = std::function<void(Nanos)>;

  void make(BitRate ceiling) {
    topology = topology_of(topology_text());
    topology.customers[kMallory].ceiling = ceiling;
    if (GetParam()) seal();
    auto made = World::make(topology, requests, {});
    ASSERT_TRUE(made.has_value()) << made.error();
    world = std::move(*made);
    to_east.emplace(*world, kBottleneck, 0);
    to_west.emplace(*world, kWestMiddle, 1);
    to_middle.emplace(*world, kWestMiddle, 0);
    from_mallory.emplace(*world, kMallorysLink, 0);
  }
  /// Plays with an attack in each step from kAttack on, or without. `ceiling`: mallory's, B/s; 0:
  /// none.
  Figures play(BitRate ceiling, const Attack& attack = {}) {
    requests = {};
    seen = {};
    answered.clear();
    make(ceiling);
    Figures f;
    std::array<metrics::Histogram, kCustomers> pings;
    std::array<uint64_t, kCustomers> bytes{};
    for (Nanos now = kStep; now <= kTo; now += kStep) {
      world->run_until(now);
      if (attack && now >= kAttack) attack(now);
      if (now != kFrom) continue;
      for (size_t c = 0; c < kCustomers; ++c) {
        pings[c] = arrived(3 + c).latency;
        bytes[c] = arrived(c).bytes.read();
      }
    }
    for (sender::Sender* s : world->senders()) s->stop(world->now());
    world->run_until(kTo + 500_ms);
    for (size_t c = 0; c < kCustomers; ++c) {
      f.rate[c] = static_cast<double>(arrived(c).bytes.read() - bytes[c]) / to_seconds(kTo - kFrom);
      const metrics::Histogram later = arrived(3 + c).latency.since(pings[c]);
      f.ping[c] = Nanos(static_cast<int64_t>(later.quantile(0.99)));
      f.request[c] = requests.p99(c);
    }
    for (size_t r = 0; r < 3; ++r) EXPECT_TRUE(world->router(r).snapshot().conserved());
    return f;
  }
  /// anna and bert keep the shares that they have without the attack. Returns the figures without
  /// it, and with it.
  std::pair<Figures, Figures> expect_shares(const Attack& attack, BitRate ceiling = BitRate(0)) {
    static std::map<std::pair<bool, double>, Figures> without;
    const std::pair variant(GetParam(), ceiling.count());
    if (!without.contains(variant)) without[variant] = play(ceiling);
    const Figures &before = without[variant], now = play(ceiling, attack);
    for (size_t c = 0; c < kCustomers; ++c) {
      SCOPED_TRACE(topology.customers[c].name);
      std::printf("%-8s %.4f of its share, ping %.3f -> %.3f ms, request %.3f -> %.3f ms\n",
                  topology.customers[c].name.c_str(), now.rate[c] / before.rate[c],
                  to_seconds(before.ping[c]) * 1e3, to_seconds(now.ping[c]) * 1e3,
                  to_seconds(before.request[c]) * 1e3, to_seconds(now.request[c]) * 1e3);
      EXPECT_GE(now.rate[c], kShare * before.rate[c]);
    }
    EXPECT_EQ(requests.unfinished, 0U);
    return {before, now};
  }
  /// They keep their latencies as well.
  void expect_untouched(const Attack& attack) {
    const auto [before, now] = expect_shares(attack);
    for (size_t c = 0; c < kCustomers; ++c) {
      SCOPED_TRACE(topology.customers[c].name);
      const auto latest = [](Nanos was) {
        return was + std::max(from_seconds(kLate * to_seconds(was)), kPacket);
      };
      EXPECT_LE(now.ping[c], latest(before.ping[c]));
      EXPECT_LE(now.request[c], latest(before.request[c]));
    }
  }
  void seal() {
    for (config::Gateway& g : topology.gateways) {
      g.security = config::GatewaySecurity{.key_file = "none"};
      g.silent_peer = config::SilentPeer::kDrop;
      g.peers[0].keys.emplace_back(std::vector<uint8_t>(SecretBytes::kMaxSize, 7));
    }
  }
  [[nodiscard]] const sender::Arrivals& arrived(size_t stream) const {
    return world->senders()[3]->hosts()[0]->open_loop().meter().stream(stream)->arrivals();
  }
  gateway::Gateway& west() { return world->gateway(0); }
  gateway::Gateway& east() { return world->gateway(1); }

  /// Adds the packets on the core to `seen`, of which the newest stay.
  void look() {
    constexpr size_t kMaxKept = 1000;
    const auto add = [](std::vector<TunnelPacket>& to, const std::vector<Frame>& frames,
                        wire::Kind kind) {
      for (const Frame& frame : frames)
        if (auto p = read_tunnel_packet(frame); p && p->header.kind == kind)
          to.push_back(std::move(*p));
      if (to.size() > kMaxKept) to.erase(to.begin(), to.end() - kMaxKept);
    };
    add(seen.data, to_east->read(), wire::Kind::kData);
    add(seen.answers, to_west->read(), wire::Kind::kAck);
  }
  /// The newest packet of mallory's tunnel among these; null: none.
  TunnelPacket* mallorys(std::vector<TunnelPacket>& packets) {
    const uint32_t flow = west().tunnels(kMallory)[0]->flow;
    const auto at = std::find_if(packets.rbegin(), packets.rend(),
                                 [&](const TunnelPacket& p) { return p.header.flow == flow; });
    return at == packets.rend() ? nullptr : &*at;
  }
  /// One that has arrived some time ago, of any tunnel.
  TunnelPacket& old(std::vector<TunnelPacket>& packets) {
    return packets[random() % (packets.size() / 2)];
  }
  /// Calls send() until `attacker` has sent at `rate`, B/s, since the attack began.
  static void at_rate(const LinkAttacker& attacker, double rate, Nanos now,
                      const std::function<void()>& send) {
    const double most = rate * to_seconds(now - kAttack);
    for (unsigned n = 0; n < 2000 && static_cast<double>(attacker.sent()) < most; ++n) send();
  }

  /// mallory's data packets on the bottleneck that she has not seen yet.
  std::vector<TunnelPacket> mallorys_under_way() {
    std::vector<TunnelPacket> all;
    const uint32_t flow = west().tunnels(kMallory)[0]->flow;
    for (const Frame& frame : to_east->read())
      if (auto p = read_tunnel_packet(frame); p && p->header.kind == wire::Kind::kData &&
                                              p->header.flow == flow &&
                                              answered.emplace(flow, p->header.sequence).second)
        all.push_back(std::move(*p));
    return all;
  }
  [[nodiscard]] TunnelPacket answer_to(const TunnelPacket& p, wire::Kind kind) const {
    TunnelPacket answer = p;
    answer.bytes.resize(p.header.length);
    answer.header.kind = kind;
    answer.header.echo = p.header.timestamp;
    std::swap(answer.spec.source_port, answer.spec.destination_port);
    const auto v4 = std::get<wire::Ipv4Pair>(p.spec.addresses);
    answer.spec.addresses = wire::Ipv4Pair{v4.destination, v4.source};
    const config::Link& link = topology.links[kWestMiddle];
    answer.spec.source_mac = link.ends[1].mac;
    answer.spec.destination_mac = link.ends[0].mac;
    return answer;
  }

  [[nodiscard]] const wire::Mac& mac(size_t link, size_t end) const {
    return topology.links[link].ends[end].mac;
  }
  [[nodiscard]] uint32_t ip_of(size_t link, size_t end) const {
    return topology.links[link].ends[end].ipv4.address;
  }
  /// A frame on her own link that some customer's router should not take.
  Frame hostile() {
    constexpr uint32_t kServer = 0x0a090902, kMallorysAddress = 0x0a090302;
    const auto any = [&] { return static_cast<uint32_t>(random()); };
    const auto from_her = [&](const std::vector<uint8_t>& ip) {
      return ethernet(mac(kMallorysLink, 1), mac(kMallorysLink, 0), ip);
    };
    const auto udp = [&](uint32_t source, uint32_t destination, uint8_t ttl = 64,
                         uint16_t fragment = 0) {
      std::vector<uint8_t> ip = datagram(source, destination, 17, ttl, 1382, 1382, fragment);
      for (size_t i = 20; i < 24; ++i) ip[i] = static_cast<uint8_t>(random());  // ports
      wire::store_be16(&ip[24], 1362);
      return from_her(ip);
    };
    switch (random() % 10) {
      case 0:  // anna's address
        return udp(0x0a090102, kServer);
      case 1:  // no customer's, or the core's
        return udp(random() % 2 == 0 ? any() : ip_of(kWestMiddle, 0), kServer);
      case 2:  // to the core
        return udp(kMallorysAddress, ip_of(random() % 2 == 0 ? kWestMiddle : kBottleneck, 0));
      case 3:  // a tunnel's packet with a true token, of anyone
        return from_her(ip_bytes(old(seen.data).frame()));
      case 4:
        return from_her(ip_bytes(old(seen.answers).frame()));
      case 5:
        return udp(kMallorysAddress, kServer, static_cast<uint8_t>(random() % 2));
      case 6:  // fragments
        return udp(kMallorysAddress, kServer, 64, static_cast<uint16_t>(any() & 0x3fff));
      case 7:  // truncated, or with a length that lies
        return from_her(datagram(kMallorysAddress, kServer, 17, 64, random() % 1400,
                                 static_cast<uint16_t>(any())));
      case 8:  // SYNs of as many connections as there are ports
      {
        std::vector<uint8_t> ip = datagram(kMallorysAddress, kServer, 6, 64, 44, 44);
        for (size_t i = 20; i < 44; ++i) ip[i] = static_cast<uint8_t>(random());
        ip[33] = 2;
        return from_her(ip);
      }
      default:
        return udp(kMallorysAddress, kServer);
    }
  }
  static std::vector<uint8_t> ip_bytes(const Frame& frame) {
    return {frame.begin() + wire::kEthernetSize, frame.end()};
  }

  Requests requests;
  config::Topology topology;
  std::unique_ptr<World> world;
  std::optional<LinkAttacker> to_east, to_west, to_middle, from_mallory;
  Seen seen;
  std::set<std::pair<uint32_t, uint32_t>> answered;  // flow and sequence
  std::mt19937_64 random{1};
};

}  // namespace turnpike::lab::gateway_attack_test
