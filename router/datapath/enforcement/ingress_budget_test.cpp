// SPDX-License-Identifier: BSD-3-Clause
// Customers' budgets at an edge router: what passes, and what does not.
#include "router/datapath/enforcement/ingress_budget.h"

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "common/config/address.h"
#include "common/protocols/fcp/header.h"
#include "common/protocols/registry.h"
#include "router/datapath/enforcement/refusal.h"
#include "tests/support/router_world.h"

namespace turnpike::router {
namespace {

using test::kLeft;
using test::kRight;

constexpr uint32_t kSize = 1500;
constexpr double kDepth = 0.25, kTolerance = 0.05;

/// One customer of 2 $/s, the left host, and an edge router.
config::Topology edge() {
  config::Topology t = test::topology();
  t.customers.push_back({.name = "acme", .budget = Budget(2)});
  t.ipv4_customers.push_back({*config::parse_ipv4_prefix("10.0.1.0/24"), 0});
  t.ipv6_customers.push_back({*config::parse_ipv6_prefix("fd00:1::/64"), 0});
  t.links[kRight].directions[0].law.params =
      preset_values(*find_protocol("fcp"), /*link=*/true, "turnpike");
  t.routers[0].enforcement = {.links = {kLeft},
                              .tolerance = kTolerance,
                              .burst = 250_ms,
                              .promise_burst = 250_ms,
                              .unpriced_burst = 20_ms};
  return t;
}

test::Frame packet(const fcp::Header& header, uint16_t size = kSize, bool v6 = false,
                   wire::Kind kind = wire::Kind::kData) {
  std::array<uint8_t, fcp::kHeaderSize> bytes;
  fcp::store(header, bytes.data());
  return test::fcp({.kind = kind, .datagram = size, .v6 = v6, .header = bytes.data()});
}

/// A data packet that pays `dollars`, and promises `promised` dollars for its slot.
fcp::Header paying(double dollars, double promised = 0) {
  fcp::Header h{.rtt_ns = 20'000'000,
                .preload = -1,
                .balance = static_cast<float>(dollars / kSize),
                .slot = 1};
  if (promised > 0) {
    h.reserve = static_cast<float>(std::max(promised, dollars) / kSize);
    h.preload = static_cast<float>(promised / (h.reserve * kSize) - 1);
  }
  return h;
}

class IngressBudget : public ::testing::Test {
 protected:
  /// Sends a frame at `when`; returns whether the budget admitted it.
  bool admits(const test::Frame& frame, Nanos when, unsigned worker = 0) {
    const uint64_t before = world().drops(DropReason::kOverBudget);
    world().arrive(kLeft, frame, worker);
    world().poll(when);
    world().sent(kRight);
    return world().drops(DropReason::kOverBudget) == before;
  }
  /// Sends such frames at an even pace for `seconds`; returns how many were admitted.
  size_t admitted(const test::Frame& frame, double per_second, double seconds) {
    size_t n = 0;
    const auto count = static_cast<size_t>(per_second * seconds);
    const Nanos start = world().now;
    for (size_t i = 0; i < count; ++i)
      n += admits(frame, start + from_seconds(static_cast<double>(i) / per_second),
                  static_cast<unsigned>(i % world().router().workers()));
    return n;
  }
  uint64_t refused(Refusal why) {
    const auto all = world().router().customers();
    return all.empty() ? 0 : all[0].packets[static_cast<size_t>(why)];
  }
  test::World& world() { return *world_; }
  void start(unsigned workers, const config::Topology& t = edge(),
             const Protocol* (*find)(std::string_view) = find_protocol) {
    world_.reset();
    world_ = std::make_unique<test::World>(workers, t, RouterOptions{.find = find});
  }
  void SetUp() override { start(1); }

 private:
  std::unique_ptr<test::World> world_;
};

TEST_F(IngressBudget, AdmitsWhatItBuys) {
  // 20 m$ a packet: 100 a second. The tolerance buys 5 more, the burst 25 once.
  EXPECT_EQ(admitted(packet(paying(0.02)), 100, 10), 1000U);
  EXPECT_EQ(refused(Refusal::kSpending), 0U);
  start(1);
  EXPECT_NEAR(static_cast<double>(admitted(packet(paying(0.02)), 300, 10)), 1050 + 25, 3);
  EXPECT_GT(refused(Refusal::kSpending), 1900U);
  EXPECT_EQ(refused(Refusal::kCommitment), 0U);
  start(1);
  EXPECT_NEAR(static_cast<double>(admitted(packet(paying(0.02), kSize, true), 300, 10)), 1050 + 25,
              3)
      << "IPv6";
}

TEST_F(IngressBudget, AdmitsPromisesThatItBuys) {
  EXPECT_EQ(admitted(packet(paying(0.001, 0.02)), 100, 10), 1000U);
  start(1);
  EXPECT_NEAR(static_cast<double>(admitted(packet(paying(0.001, 0.02)), 300, 10)), 1050 + 25, 3);
  EXPECT_EQ(refused(Refusal::kSpending), 0U);
  EXPECT_GT(refused(Refusal::kCommitment), 1900U);
  // Payments and promises are separate: all that a flow promises, it pays later.
  start(1);
  EXPECT_EQ(admitted(packet(paying(0.02, 0.02)), 100, 10), 1000U);
}

TEST_F(IngressBudget, AgreesWithATokenBucket) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> gap(150), cost(60);
  double tokens = 2 * kDepth * (1 + kTolerance), last = 0;
  size_t differ = 0, yes = 0;
  const Nanos start = world().now;
  double t = 0;
  for (int i = 0; i < 3000; ++i) {
    t += gap(random);
    const double dollars = std::min(cost(random), 0.1);
    tokens = std::min(tokens + (t - last) * 2 * (1 + kTolerance), 2 * kDepth * (1 + kTolerance));
    last = t;
    const bool pass = admits(packet(paying(dollars)), start + from_seconds(t));
    // Admits the packet that overdraws. Rounding may decide where they are almost equal.
    if (pass != (tokens >= 0)) ++differ;
    if (pass) tokens -= dollars;
    yes += pass;
  }
  EXPECT_GT(yes, 1000U);
  EXPECT_LT(yes, 2950U);
  EXPECT_LE(differ, 15U);
}

TEST_F(IngressBudget, AdmitsAPacketThatTakesLongToPay) {
  // 3 $ for one packet: a second and a half of the budget.
  const test::Frame dear = packet(paying(3, 3));
  EXPECT_EQ(admitted(dear, 1 / 1.6, 32), 20U);
  start(1);
  EXPECT_LE(admitted(dear, 10, 20), 17U);
  EXPECT_FALSE(admits(packet(paying(100)), world().now + 100_s)) << "more than any packet costs";
}

TEST_F(IngressBudget, IsSharedByAllWorkers) {
  start(3);
  const double n = static_cast<double>(admitted(packet(paying(0.002, 0.002)), 3000, 10));
  EXPECT_GE(n, 10500);
  EXPECT_LE(n, 10500 + 250 * 1.5);
  start(3);
  EXPECT_EQ(admitted(packet(paying(0.002, 0.002)), 1000, 10), 10000U);
}

TEST_F(IngressBudget, LeavesAWorkerWithFewPacketsItsPart) {
  start(2);
  const test::Frame frame = packet(paying(0.002));
  const Nanos start = world().now;
  // 98 % of the budget; every 50th packet arrives at the second worker.
  for (int64_t i = 0; i < 20'000; ++i)
    ASSERT_TRUE(admits(frame, start + Nanos(i * 1'020'000), i % 50 == 0 ? 1 : 0)) << i;
}

// A claimed exchange rate is set to 1 first.
TEST_F(IngressBudget, CountsMoneyAtNoClaimedValue) {
  for (const float claimed : {0.125F, 8.0F}) {
    start(1);
    fcp::Header h = paying(0.002);
    h.exchange = claimed;
    EXPECT_NEAR(static_cast<double>(admitted(packet(h), 3000, 10)), (21 + 0.25 * 2.1) / 0.002, 3)
        << claimed;
  }
}

// The link's charge, which is in the header here, counts where the packet pays less.
TEST_F(IngressBudget, CustomersPayThePriceWhateverTheyDeclare) {
  config::Topology t = edge();
  const auto params = find_protocol("fcp")->link_params;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].name == "audit") t.links[kRight].directions[0].law.params[i] = 1;
  start(1, t);
  fcp::Header h = paying(0.002);
  h.charged = static_cast<float>(0.02 / kSize);
  const double bill = 0.002 + 1.25 * 0.018;
  EXPECT_NEAR(static_cast<double>(admitted(packet(h), 1000, 10)), (21 + 0.25 * 2.1) / bill, 15);
  start(1, t);
  h.charged = static_cast<float>(0.001 / kSize);  // other links' prices are to come
  EXPECT_EQ(admitted(packet(h), 900, 10), 9000U);
}

TEST_F(IngressBudget, BlocksCustomersThatAnnounceOtherThanTheySend) {
  fcp::Header h = paying(0.001);
  h.preload = 8;
  h.slot = 5e-3F;
  // Found after five windows of 50 packets each, three times: blocks of 1, 2 and 4 s are between.
  EXPECT_NEAR(static_cast<double>(admitted(packet(h), 200, 10)), 3 * 250, 5);
  EXPECT_GT(refused(Refusal::kMisbehaviour), 1000U);
}

// A packet that is refused costs nothing, whatever it announces and pays.
TEST_F(IngressBudget, RefusedPacketsDoNotHideWhatOthersAnnounce) {
  fcp::Header h = paying(0.001);
  h.reserve = h.balance;
  h.preload = 8;
  for (unsigned n = 0; n < 30; ++n) {
    admitted(packet(h), 1500, 0.09);
    EXPECT_FALSE(admits(packet(paying(1e6, 1e6)), world().now + 1_us));
  }
  EXPECT_GT(refused(Refusal::kMisbehaviour), 1000U);
}

TEST_F(IngressBudget, NeitherChargesNorDropsOthers) {
  config::Topology t = edge();
  t.ipv4_customers[0].prefix = *config::parse_ipv4_prefix("10.0.77.0/24");
  start(1, t);
  EXPECT_EQ(admitted(packet(paying(10)), 100, 1), 100U);
  t = edge();
  t.routers[0].enforcement->links = {kRight};
  start(1, t);
  EXPECT_EQ(admitted(packet(paying(10)), 100, 1), 100U) << "no edge link";
}

TEST_F(IngressBudget, KnowsCustomersByTheirLink) {
  config::Topology t = edge();
  t.ipv4_customers.clear();
  t.customers[0].links = {kLeft};
  start(1, t);
  EXPECT_NEAR(static_cast<double>(admitted(packet(paying(0.02)), 300, 10)), 1050 + 25, 3);
}

TEST_F(IngressBudget, SurvivesAnyHeader) {
  std::mt19937 random(5);
  for (int i = 0; i < 5000; ++i) {
    std::array<uint8_t, fcp::kHeaderSize> bytes;
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(i % 3 == 0 ? 0xff : random());
    admits(test::fcp({.datagram = kSize, .header = bytes.data()}), world().now + 1_ms);
  }
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  admits(packet({.rtt_ns = 20'000'000, .reserve = kNan, .preload = kNan, .balance = kNan}),
         world().now + 1_ms);
  // The debt of the packets that passed is bounded.
  EXPECT_TRUE(admits(packet(paying(0.02, 0.02)), world().now + 15_s));
}

// --- packets without a charge -------------------------------------------------------------------

constexpr double kPrice = 4e-7;  // $/B

/// A law whose price never changes.
class ConstantPrice final : public LinkLaw {
 public:
  ConstantPrice() : LinkLaw(LinkTraits{}) {}
  uint64_t arrive(unsigned, std::span<LinkPacket>, const LinkState&, Nanos) override { return 0; }
  [[nodiscard]] double price(unsigned) const override { return kPrice; }
  size_t gauges(std::span<Gauge>) const override { return 0; }
};

const Protocol* constant_price(std::string_view name) {
  static const Protocol protocol = [] {
    Protocol p = *find_protocol("fcp");
    p.make_link_law = [](const ParamValues&, unsigned, uint64_t) -> std::unique_ptr<LinkLaw> {
      return std::make_unique<ConstantPrice>();
    };
    return p;
  }();
  return name == "none" ? nullptr : &protocol;
}

class Unpriced : public IngressBudget {
 protected:
  void SetUp() override { start(1, edge(), constant_price); }
};

TEST_F(Unpriced, CostsThePriceOfTheNextLink) {
  // 0.6 m$ a packet: 2 $/s buy 3333 a second, without a tolerance. 20 ms of them pass at once.
  EXPECT_EQ(admitted(test::plain(kSize), 3300, 3), 9900U);
  SetUp();
  EXPECT_NEAR(static_cast<double>(admitted(test::plain(kSize), 9000, 3)), 10'000 + 67, 5);
  EXPECT_EQ(refused(Refusal::kSpending), 0U);
  EXPECT_GT(refused(Refusal::kUnpriced), 16'000U);
  // It shares the budget with what flows pay.
  SetUp();
  const test::Frame flow = packet(paying(0.01)), plain = test::plain(kSize);
  size_t flows = 0, others = 0;
  const Nanos begin = world().now;
  for (int i = 0; i < 400; ++i) {
    flows += admits(flow, begin + Nanos(i * int64_t{10'000'000}));
    for (int k = 0; k < 90; ++k) others += admits(plain, world().now);
  }
  EXPECT_EQ(flows, 400U) << "1 $/s of 2";
  EXPECT_NEAR(static_cast<double>(others) * kPrice * kSize, 4, 0.25) << "the rest";
}

TEST_F(Unpriced, IsFreeIfTheFileSaysSo) {
  config::Topology t = edge();
  t.routers[0].enforcement->charge_unpriced = false;
  start(1, t, constant_price);
  EXPECT_EQ(admitted(test::plain(kSize), 5000, 1), 5000U);
}

TEST_F(Unpriced, FreeAcksAreAsManyAsDataPackets) {
  config::Topology t = edge();
  t.customers[0].budget = Budget(0);
  start(1, t, constant_price);
  const test::Frame ack = packet({}, 100, false, wire::Kind::kAck);
  EXPECT_FALSE(admits(ack, world().now)) << "no host has sent data to it";
  // Three data packets from the right host.
  for (int i = 0; i < 3; ++i) {
    std::array<uint8_t, fcp::kHeaderSize> bytes;
    fcp::store({.rtt_ns = 20'000'000}, bytes.data());
    test::Frame f = test::fcp({.datagram = kSize,
                               .source = "10.0.2.2",
                               .destination = "10.0.1.2",
                               .header = bytes.data()});
    std::ranges::copy(test::router_mac(kRight), f.begin());
    world().arrive(kRight, f);
    world().poll(world().now);
  }
  world().sent(kLeft);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(admits(ack, world().now));
  EXPECT_FALSE(admits(ack, world().now));
  EXPECT_FALSE(admits(packet({}, kSize, false, wire::Kind::kAck), world().now))
      << "no size of ACKs";
}

// --- SYNs
// -----------------------------------------------------------------------------------------

test::Frame syn(double budget, double bytes = 45'000) {
  std::array<uint8_t, fcp::kHeaderSize> header;
  fcp::store(
      {.preload = static_cast<float>(bytes / 84), .balance = static_cast<float>(budget), .slot = 1},
      header.data());
  return test::fcp({.kind = wire::Kind::kSyn, .datagram = 84, .header = header.data()});
}

TEST_F(Unpriced, OpeningsOfShortFlowsAreNeverRefused) {
  // 5,000 flows a second, a hundred at a time.
  EXPECT_EQ(admitted(syn(2.0 / 100), 5000, 2), 10'000U);
}

TEST_F(Unpriced, FloodsOfOpeningsAreBounded) {
  // In one second at twice 2 $/s, and the burst.
  const double most = 2 * 2 * (1 + kTolerance) * (1 + kDepth);
  EXPECT_NEAR(static_cast<double>(admitted(syn(1e9), 10'000, 1)) * (45'000 + 84) * kPrice, most,
              0.1);
  SetUp();
  const double first = 2 * (1 + kTolerance) * 1e-3;  // no budget stated: the customer's
  EXPECT_NEAR(static_cast<double>(admitted(syn(0), 10'000, 1)) * (first + 84 * kPrice), most, 0.1);
  EXPECT_GT(refused(Refusal::kOpenings), 5000U);
}

}  // namespace
}  // namespace turnpike::router
