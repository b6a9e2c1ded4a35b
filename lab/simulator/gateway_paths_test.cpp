// SPDX-License-Identifier: BSD-3-Clause
// Gateways whose paths change and fail, on the virtual clock.
//
//   anna -+                +-- near (round trip 5 ms) ---+
//         +-- west (core) -+                             +- (core) east -- server
//   bert -+                +-- far (round trip 60 ms) ---+
#include <cmath>
#include <string>

#include "common/units/instrumented.h"
#include "tests/support/gateway_world.h"

namespace turnpike::lab {
namespace {

constexpr Nanos kRecovery = 2_s;   // until the tunnels carry again
constexpr Nanos kStep = 50_ms;     // of the search for a recovery
constexpr Nanos kSteady = 500_ms;  // a rate counts when it lasts for so long

struct Paths {
  std::string west = "near", east = "near";  // to the other gateway
  std::string gateway = {};                  // more keys of west
  std::string traffic =
      "streams: { anna: { from: anna, to: server, rate: { l2: 80 Mbps }, "
      "frames: { sizes: 1000 B }, flows: 4 }, bert: { from: bert, to: server, "
      "rate: { l2: 80 Mbps }, frames: { sizes: 1000 B }, flows: 4 } }";
  unsigned west_far = 1640, far_east = 1640;  // MTUs, B
};

const std::string kTcp =
    "flows: { anna: { from: anna, to: server, protocol: { tcp: { min_timeout: 200 ms } } }, bert: "
    "{ from: bert, to: server, protocol: { tcp: { min_timeout: 200 ms } }, count: 4 } }";

std::string core_link(const std::string& a, const std::string& b, const std::string& delay,
                      const std::string& net, unsigned mtu) {
  return "  " + a + "-" + b + ": { ends: [" + a + ", " + b + "], rate: 100 Mbps, delay: " + delay +
         ", buffer: 1 MB, law: fcp, mtu: " + std::to_string(mtu) + ", addresses: { " + a +
         ": [10.1." + net + ".1/24], " + b + ": [10.1." + net + ".2/24] } }\n";
}

std::string text_of(const Paths& p) {
  return "run: { duration: 60 s }\n"
         "hosts: { anna: { budget: 1 $/s }, bert: { budget: 1 $/s }, server: {} }\n"
         "routers:\n"
         "  west: { routes: { prefix: 10.1.2.0/24, via: west-" +
         p.west +
         " } }\n"
         "  near: {}\n"
         "  far: {}\n"
         "  east: { routes: { prefix: 10.1.1.0/24, via: " +
         p.east +
         "-east } }\n"
         "links:\n"
         "  anna: { ends: [anna, west], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
         "  bert: { ends: [bert, west], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n" +
         core_link("west", "near", "500 us", "1", 1640) +
         core_link("near", "east", "2 ms", "2", 1640) +
         core_link("west", "far", "10 ms", "3", p.west_far) +
         core_link("far", "east", "20 ms", "4", p.far_east) +
         "  server: { ends: [east, server], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
         "customers:\n"
         "  anna: { link: anna, budget: 1 $/s }\n"
         "  bert: { link: bert, budget: 1 $/s }\n"
         "  server: { link: server, budget: 2 $/s }\n"
         "gateways:\n"
         "  west: { core: [west-near, west-far], peers: { east: {} }" +
         (p.gateway.empty() ? "" : ", " + p.gateway) +
         " }\n"
         "  east: { core: [near-east, far-east], peers: { west: {} } }\n"
         "traffic: { " +
         p.traffic + " }\n";
}

class GatewayPaths : public GatewayWorld {
 protected:
  // Links by their place at each router, in the order of the file.
  static constexpr size_t kWest = 0, kNear = 1, kEast = 3;  // routers
  static constexpr size_t kToNear = 2;                      // link of west

  void begin(const Paths& paths) {
    make(topology_of(text_of(paths)));
    world->run_until(2_s);
    before = rate(2_s, 3_s);
    ASSERT_GT(before, 0.8 * 100e6 / 8);
  }
  void take(const Paths& paths) {
    const auto done = world->reload(topology_of(text_of(paths)));
    ASSERT_TRUE(done.has_value()) << done.error();
  }
  /// The link between west and near, at both ends.
  void set_near(bool up) {
    world->router(kWest).set_link_up(kToNear, up);
    world->router(kNear).set_link_up(0, up);
    for (const size_t r : {kNear, kEast}) world->router(r).set_link_up(r == kNear ? 1 : 0, up);
  }
  uint64_t released() { return total(1, &Totals::released_bytes); }
  /// B/s that leave the tunnels at east.
  double rate(Nanos from, Nanos to) {
    world->run_until(from);
    const uint64_t at = released();
    world->run_until(to);
    return static_cast<double>(released() - at) / to_seconds(to - from);
  }
  /// How long after `from` the rate is what it was before, within 10 %, for kSteady.
  Nanos recovered(Nanos from) {
    world->run_until(from);
    std::vector<uint64_t> seen{released()};
    const auto window = static_cast<size_t>(kSteady / kStep);
    for (Nanos at = from + kStep; at <= from + 10_s; at += kStep) {
      world->run_until(at);
      seen.push_back(released());
      if (seen.size() <= window) continue;
      const auto got = static_cast<double>(seen.back() - seen[seen.size() - 1 - window]);
      if (got >= 0.9 * before * to_seconds(kSteady)) return at - kSteady - from;
    }
    return kNever;
  }
  void expect_recovery(Nanos from, const char* change) {
    const Nanos took = recovered(from);
    std::printf("%s: recovered after %.2f s\n", change, to_seconds(took));
    EXPECT_LE(took, kRecovery) << change;
    EXPECT_FALSE(west().silent(0));
    for (size_t r = 0; r < 4; ++r) EXPECT_TRUE(world->router(r).snapshot().conserved());
  }
  /// TCP carries on within `bound`: in each half second of three it has a tenth of its rate. When
  /// it has all of it is its own affair, since its window grows with the round trip.
  void expect_tcp_goes_on(Nanos from, Nanos bound, const char* change) {
    for (Nanos at = from + bound; at < from + bound + 3_s; at += kSteady)
      EXPECT_GE(rate(at, at + kSteady), 0.1 * before) << change << ", s " << to_seconds(at - from);
    EXPECT_FALSE(west().silent(0));
  }

  double before = 0;  // B/s
};

TEST_F(GatewayPaths, ARouteMovesToALongerPathAndBack) {
  for (const bool tcp : {false, true}) {
    if (kInstrumented && tcp) continue;  // TcpGoesOnWhenALinkComesBack has TCP
    SCOPED_TRACE(tcp);
    Paths paths;
    if (tcp) paths.traffic = kTcp;
    begin(paths);
    Paths far = paths;
    far.west = far.east = "far";
    take(far);
    tcp ? expect_tcp_goes_on(3_s, kRecovery, "TCP, 5 to 60 ms")
        : expect_recovery(3_s, "5 to 60 ms");
    world->run_until(8_s);
    take(paths);
    tcp ? expect_tcp_goes_on(8_s, kRecovery, "TCP, 60 to 5 ms")
        : expect_recovery(8_s, "60 to 5 ms");
    if (!tcp)
      for (const size_t c : {0, 1}) expect_accounted(c);
  }
}

TEST_F(GatewayPaths, PacketsAndAnswersMayTakeDifferentPaths) {
  for (const bool tcp : {false, true}) {
    if (kInstrumented && tcp) continue;  // TcpGoesOnWhenALinkComesBack has TCP
    SCOPED_TRACE(tcp);
    Paths paths;
    if (tcp) paths.traffic = kTcp;
    begin(paths);
    Paths other = paths;
    other.east = "far";
    take(other);
    tcp ? expect_tcp_goes_on(3_s, kRecovery, "answers") : expect_recovery(3_s, "answers");
    world->run_until(8_s);
    other.east = "near";
    other.west = "far";
    take(other);
    tcp ? expect_tcp_goes_on(8_s, kRecovery, "packets") : expect_recovery(8_s, "packets");
  }
}

TEST_F(GatewayPaths, ASecondPathReplacesALinkThatFails) {
  for (const bool tcp : {false, true}) {
    if (kInstrumented && tcp) continue;  // TcpGoesOnWhenALinkComesBack has TCP
    SCOPED_TRACE(tcp);
    Paths paths;
    if (tcp) paths.traffic = kTcp;
    begin(paths);
    set_near(false);
    world->run_until(3_s + 100_ms);  // a routing daemon's time
    Paths far = paths;
    far.west = far.east = "far";
    take(far);
    tcp ? expect_tcp_goes_on(3_s, kRecovery, "second path") : expect_recovery(3_s, "second path");
    if (!tcp)
      for (const size_t c : {0, 1}) expect_accounted(c);
  }
}

TEST_F(GatewayPaths, ALinkWithoutASecondPathComesBack) {
  for (const std::string gateway : {"", "silent_peer: drop"})
    for (const Nanos away : {100_ms, 1_s, 3_s}) {
      if (kInstrumented && away != 1_s) continue;
      SCOPED_TRACE(gateway + " " + std::to_string(away / 1_ms));
      Paths paths;
      paths.gateway = gateway;
      begin(paths);
      set_near(false);
      world->run_until(3_s + away);
      EXPECT_EQ(west().silent(0), away >= 1_s);
      set_near(true);
      expect_recovery(3_s + away, "link");
      for (const size_t c : {0, 1}) expect_accounted(c);
    }
}

/// A host's time-outs double: the next one comes as late as it has waited in vain, and its first
/// time-out more (RFC 6298). It waits until the gateway has found its peer.
TEST_F(GatewayPaths, TcpGoesOnWhenALinkComesBack) {
  for (const std::string gateway : {"", "silent_peer: drop"})
    for (const Nanos away : {100_ms, 1_s, 3_s}) {
      if (kInstrumented && away != 1_s) continue;
      SCOPED_TRACE(gateway + " " + std::to_string(away / 1_ms));
      Paths paths;
      paths.traffic = kTcp;
      paths.gateway = gateway;
      begin(paths);
      set_near(false);
      world->run_until(3_s + away);
      set_near(true);
      const Nanos next = away + gateway::Shard::kProbe + 200_ms;
      expect_tcp_goes_on(3_s + away, std::max(kRecovery, next), "link");
    }
}

/// A tunnel's packet has 84 B of headers. bert's datagrams do not fit, anna's do.
TEST_F(GatewayPaths, ANarrowerPathIsLearntWhereverItIsNarrow) {
  for (const bool own : {true, false}) {
    SCOPED_TRACE(own);
    Paths paths;
    paths.traffic =
        "streams: { anna: { from: anna, to: server, rate: { l2: 120 Mbps }, frames: { sizes: 1000 "
        "B "
        "}, flows: 4 }, bert: { from: bert, to: server, rate: { l2: 80 Mbps }, frames: { sizes: "
        "1500 B }, flows: 4 } }";
    (own ? paths.west_far : paths.far_east) = 1400;
    begin(paths);
    const gateway::Shard& berts = west().shard(1 % west().lcores());  // bert is customer 1
    EXPECT_EQ(berts.peers()[0].inner_mtu, 1640 - 84);
    Paths far = paths;
    far.west = far.east = "far";
    take(far);
    expect_recovery(3_s, own ? "own link narrower" : "another link narrower");
    EXPECT_EQ(berts.peers()[0].inner_mtu, 1400 - 84);
    EXPECT_EQ(total(0, &Totals::mtu_reductions), 1U);
    expect_accounted(0);
  }
}

}  // namespace
}  // namespace turnpike::lab
