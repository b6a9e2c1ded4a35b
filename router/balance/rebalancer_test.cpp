// SPDX-License-Identifier: BSD-3-Clause
#include "router/balance/rebalancer.h"

#include <array>

#include "common/units/instrumented.h"
#include "tests/support/eal.h"

namespace turnpike::router {
namespace {

constexpr uint16_t kTableBuckets = 128;

/// A port with two queues whose lcores receive given numbers of packets by bucket and second.
class Rebalancing : public ::testing::Test {
 protected:
  Rebalancing() {
    std::vector<uint16_t> table(kTableBuckets);
    for (uint16_t b = 0; b < kTableBuckets; ++b) table[b] = b % 2;
    real = table;
    rebalancer = std::make_unique<Rebalancer>(
        steering,
        std::vector<BalancedPort>{{.link = "west",
                                   .table = table,
                                   .rx_descriptors = 64,
                                   .write =
                                       [this](std::span<const uint16_t> buckets, uint16_t queue) {
                                         ++writes;
                                         EXPECT_TRUE(steering.parks());
                                         for (const uint16_t b : buckets) real[b] = queue;
                                         return BalancedPort::Written{.done = !refuses, .at = now};
                                       }}},
        2);
  }

  /// Lcores poll, and the control thread does what is due, for a time.
  void run(Nanos time) {
    for (const Nanos end = now + time; now < end; now += 1_ms) {
      std::array<double, 2> load{};
      for (uint16_t b = 0; b < kTableBuckets; ++b) load[shown(b)] += rate[b];
      for (uint16_t w = 0; w < 2; ++w) {
        const double busy = std::min(1.0, load[w]);
        times[w].busy += from_seconds(1e-3 * busy);
        times[w].idle += from_seconds(1e-3 * (1 - busy));
        poll(w);
      }
      rebalancer->poll(now, times, departure);
    }
  }
  void poll(uint16_t w) {
    std::array<rte_mbuf*, 256> out;
    const uint16_t n = steering.rx(0, w, now, out, [&](std::span<rte_mbuf*> room) {
      uint16_t k = 0;
      // A packet a millisecond is 0.01 of an lcore's time.
      for (uint16_t b = 0; b < kTableBuckets; ++b)
        for (double due = rate[b] * 100; shown(b) == w && k < room.size() && due >= 1; --due) {
          rte_mbuf* m = testing::make_mbuf(std::vector<uint8_t>(60));
          m->hash.rss = 3 * kTableBuckets + b;
          m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
          room[k++] = m;
        }
      return k;
    });
    rte_pktmbuf_free_bulk(out.data(), n);
    if (steering.leaving(w)) steering.left(now);
  }
  [[nodiscard]] uint16_t shown(uint16_t b) const {
    return static_cast<uint16_t>(astray ? 1 - real[b] : real[b]);
  }
  [[nodiscard]] double busy(uint16_t w) const {
    double sum = 0;
    for (uint16_t b = 0; b < kTableBuckets; ++b) sum += real[b] == w ? rate[b] : 0;
    return sum;
  }

  RssSteering steering;
  std::unique_ptr<Rebalancer> rebalancer;
  std::vector<uint16_t> real;                // the NIC's table
  std::array<double, kTableBuckets> rate{};  // shares of an lcore's time
  std::array<Rebalancer::Times, 2> times{};
  Rebalancer::Departure departure;
  Nanos now{0};
  unsigned writes = 0;
  bool refuses = false, astray = false;
};

TEST_F(Rebalancing, LeavesEqualLoadsAloneAndCountsNothing) {
  for (uint16_t b = 0; b < 60; ++b) rate[b] = b % 2 == 0 ? 0.02 : 0.0175;
  run(10_s);
  EXPECT_EQ(writes, 0U);
  EXPECT_EQ(steering.counted(0, 0, 2), 0U);
}

TEST_F(Rebalancing, SharesTheLoadOfOneLcore) {
  for (uint16_t b = 0; b < 80; b += 2) rate[b] = 0.02;
  run(kInstrumented ? 8_s : 20_s);
  EXPECT_LE(std::abs(busy(0) - busy(1)), 0.15);
  EXPECT_EQ(rebalancer->ports()[0].table, real);
  EXPECT_EQ(real[0], 0) << "bucket 0 stays";
  const auto& f = rebalancer->figures();
  EXPECT_EQ(f.moves, writes);
  EXPECT_GE(f.buckets, 17U);
  EXPECT_EQ(rebalancer->take_lines().size(), writes);
  const unsigned moves = writes;
  run(kInstrumented ? 2_s : 60_s);
  EXPECT_EQ(writes, moves) << "it comes to rest";
}

TEST_F(Rebalancing, AnElephantStaysWhereItIs) {
  rate[2] = 0.8;
  rate[4] = 0.1;
  run(kInstrumented ? 4_s : 60_s);
  EXPECT_EQ(real[2], 0);
  EXPECT_EQ(real[4], 1);
  EXPECT_EQ(writes, 1U);
}

TEST_F(Rebalancing, DoesNotBeginWhileItMayNot) {
  rate[2] = rate[4] = 0.3;
  departure.may_begin = false;
  run(10_s);
  EXPECT_EQ(writes, 0U);
}

TEST_F(Rebalancing, TrustsNoTableThatPacketsDoNotFollow) {
  for (uint16_t b = 0; b < 80; b += 2) rate[b] = 0.02;
  astray = true;
  run(10_s);
  EXPECT_EQ(writes, 0U);
  const auto lines = rebalancer->take_lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("link west: packets of bucket 0 came to queue 1 instead of 0"),
            std::string::npos)
      << lines[0];
}

TEST_F(Rebalancing, ADriverThatRefusesIsAskedOnce) {
  for (uint16_t b = 0; b < 80; b += 2) rate[b] = 0.02;
  refuses = true;
  run(kInstrumented ? 8_s : 20_s);
  EXPECT_EQ(writes, 1U);
  EXPECT_EQ(rebalancer->figures().moves, 0U);
  EXPECT_FALSE(steering.busy()) << "the move has ended";
}

}  // namespace
}  // namespace turnpike::router
