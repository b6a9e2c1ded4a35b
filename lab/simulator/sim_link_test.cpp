// SPDX-License-Identifier: BSD-3-Clause
// Channels against computed times of single packets, and the schedule against a sorted list.
#include "lab/simulator/sim_link.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include "tests/support/eal.h"

namespace turnpike::lab {
namespace {

constexpr uint16_t kFrame = 1014;  // 1000 B of IP

class CableTest : public ::testing::Test {
 protected:
  /// One direction to one node that polls one queue.
  SimChannel make(const SimLinkOptions& options) {
    return {options, schedule, {{schedule.add(), &next}}};
  }

  /// Sends packets back to back; each carries its number.
  uint16_t send(SimChannel& line, Nanos now, uint32_t count = 1) {
    std::vector<rte_mbuf*> burst(count);
    for (rte_mbuf*& m : burst) {
      m = rte_pktmbuf_alloc(turnpike::testing::test_pool().get());
      m->data_len = kFrame;
      m->pkt_len = kFrame;
      m->hash.usr = sent++;
    }
    const uint16_t taken = line.send(now, burst);
    for (size_t i = taken; i < count; ++i) rte_pktmbuf_free(burst[i]);
    return taken;
  }
  /// Numbers of the packets that have arrived by then.
  static std::vector<uint32_t> arrived(SimChannel& line, Nanos now) {
    std::vector<uint32_t> numbers;
    rte_mbuf* m = nullptr;
    while (line.receive(0, now, {&m, 1}) == 1) {
      numbers.push_back(m->hash.usr);
      rte_pktmbuf_free(m);
    }
    return numbers;
  }

  Schedule schedule;
  Nanos next{0};  // the receiver's
  uint32_t sent = 0;
};

TEST_F(CableTest, DelaysAndWakesTheReceiver) {
  SimChannel line = make({.delay = 5_ms});
  schedule.set(0, kNever);
  send(line, 1_ms);
  EXPECT_EQ(schedule.due(0), 6_ms);
  EXPECT_EQ(line.next(0), 6_ms);
  EXPECT_TRUE(arrived(line, 6_ms - 1_ns).empty());
  EXPECT_EQ(arrived(line, 6_ms).size(), 1U);
  EXPECT_EQ(line.next(0), kNever);
}

// Nodes keep its address: it is the first packet's time of arrival, however packets come and go.
TEST_F(CableTest, KeepsTheNextArrivalInPlace) {
  SimChannel line = make({.delay = 5_ms});
  const Nanos& next = line.next(0);
  EXPECT_EQ(next, kNever);
  send(line, 1_ms, 100);  // more than the queue holds before it grows
  EXPECT_EQ(next, 6_ms);
  send(line, 2_ms);
  EXPECT_EQ(next, 6_ms);
  line.set_path(1_ms, 0);
  send(line, 3_ms);  // overtakes all others
  EXPECT_EQ(next, 4_ms);
  EXPECT_EQ(arrived(line, 5_ms).size(), 1U);
  EXPECT_EQ(next, 6_ms);
  EXPECT_EQ(arrived(line, 6_ms).size(), 100U);
  EXPECT_EQ(next, 7_ms);
  EXPECT_EQ(arrived(line, 7_ms).size(), 1U);
  EXPECT_EQ(next, kNever);
}

TEST_F(CableTest, CarriesNoFasterThanItsRate) {
  SimChannel line = make({.rate = 1e6, .delay = 1_ms, .overhead = 24});  // 1024 B take 1.024 ms
  send(line, 0_ms, 3);
  EXPECT_EQ(arrived(line, 1_ms).size(), 1U) << "nothing was before it";
  EXPECT_TRUE(arrived(line, from_seconds(0.002023)).empty());
  EXPECT_EQ(arrived(line, from_seconds(0.002024)).size(), 1U);
  EXPECT_EQ(arrived(line, from_seconds(0.003048)).size(), 1U);
}

TEST_F(CableTest, TakesNoMoreThanAPortHolds) {
  SimChannel line = make({.rate = 1e6});
  const uint16_t taken = send(line, 0_ms, 100);
  EXPECT_EQ(taken, 11) << "10 ms of packets of 1 ms, and the one on its way";
  EXPECT_EQ(send(line, 0_ms), 0);
  EXPECT_EQ(send(line, 2_ms), 1);
}

TEST_F(CableTest, LosesByChanceAndCounts) {
  SimChannel line = make({.loss = 0.25});
  for (int i = 0; i < 40; ++i) send(line, Nanos(i), 100);
  const size_t came = arrived(line, 1_s).size();
  EXPECT_EQ(came + line.lost(), 4000U);
  EXPECT_NEAR(static_cast<double>(line.lost()), 1000, 4 * 27.4);  // four standard deviations
}

TEST_F(CableTest, LeadsNowhereWhereNobodyPlaysTheFarEnd) {
  SimChannel line({.rate = 1e9, .delay = 1_ms}, schedule, {});
  EXPECT_EQ(send(line, 0_ms, 3), 3);  // the pool's check at the end finds any that are not freed
}

TEST_F(CableTest, JitterKeepsTheOrder) {
  SimChannel line = make({.delay = 1_ms, .jitter = 2_ms});
  for (int i = 0; i < 300; ++i) send(line, Nanos(i * 10'000));
  EXPECT_LT(arrived(line, 3_ms).size(), 200U) << "all would be here without jitter";
  const auto numbers = arrived(line, 1_s);
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
}

TEST_F(CableTest, ReordersAShare) {
  SimChannel line = make({.delay = 4_ms, .reorder = 0.1});
  for (int i = 0; i < 1000; ++i) send(line, Nanos(i * 100'000));
  const auto numbers = arrived(line, 1_s);
  ASSERT_EQ(numbers.size(), 1000U);
  size_t late = 0;  // overtaken by the ten packets of its extra millisecond
  for (size_t i = 1; i < numbers.size(); ++i) late += numbers[i] < numbers[i - 1];
  EXPECT_NEAR(static_cast<double>(late), 95, 40);
}

TEST_F(CableTest, TheSameSeedTreatsPacketsAlike) {
  std::vector<std::vector<uint32_t>> runs;
  for (const uint64_t seed : {1U, 1U, 2U}) {
    sent = 0;
    SimChannel line =
        make({.delay = 1_ms, .jitter = 1_ms, .loss = 0.1, .reorder = 0.1, .seed = seed});
    for (int i = 0; i < 200; ++i) send(line, Nanos(i * 50'000));
    runs.push_back(arrived(line, 8_ms));
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST(Schedule, IsAlwaysTheEarliestAndLowestNode) {
  std::mt19937 random(1);
  Schedule schedule;
  std::vector<Nanos> due;
  due.reserve(20);
  for (int i = 0; i < 20; ++i) due.push_back(schedule.due(schedule.add()));
  for (int step = 0; step < 20000; ++step) {
    const uint32_t node = random() % due.size();
    const Nanos at(random() % 50);
    if (random() % 2 == 0) {
      schedule.set(node, due[node] = at);
    } else {
      schedule.wake(node, at);
      due[node] = std::min(due[node], at);
    }
    const auto first = std::ranges::min_element(due);
    ASSERT_EQ(schedule.next(), *first);
    ASSERT_EQ(schedule.first(), first - due.begin());
  }
}

}  // namespace
}  // namespace turnpike::lab
