// SPDX-License-Identifier: BSD-3-Clause
// Queue classes: strict priority, shares by weight, a buffer each.
#include <limits>

#include <gtest/gtest.h>

#include "router/datapath/link/class_scheduler.h"
#include "tests/support/eal.h"
#include "tests/support/router_world.h"
#include "tests/support/scripted_law.h"

namespace turnpike::router::test {
namespace {

constexpr double kFirst = std::numeric_limits<double>::infinity();
constexpr uint16_t kSmall = 500, kLarge = 1000;  // B of datagrams in class 1 and 0

World by_size(std::vector<double> weights, int64_t buffer = 10'000'000, unsigned workers = 1) {
  ScriptedLaw::script = {.weights = std::move(weights), .classify = [](const LinkPacket& p) {
                           return p.size == kSmall ? 1U : 0U;
                         }};
  config::Topology t = topology();
  t.links[kRight].directions[0].rate = 8_Mbps;  // 1 B/us
  t.links[kRight].directions[0].buffer = Bytes(buffer);
  RouterOptions options;
  options.find = ScriptedLaw::find;
  return World(workers, t, options);
}

/// Bytes of the datagrams that left, in order.
std::vector<size_t> sizes(World& w) {
  std::vector<size_t> all;
  for (const Frame& f : w.sent(kRight)) all.push_back(f.size() - 14);
  return all;
}
double bytes_of_class(const std::vector<size_t>& sent, size_t size) {
  return static_cast<double>(std::ranges::count(sent, size)) * static_cast<double>(size);
}

TEST(Classes, StrictPriorityGoesBeforeAllThatWaits) {
  World w = by_size({1, kFirst});
  for (int i = 0; i < 10; ++i) w.arrive(kLeft, plain(kLarge));
  w.poll(w.now);                  // the first is in transmission
  w.run_until(w.now + 2'500_us);  // the third is in transmission
  for (int i = 0; i < 3; ++i) w.arrive(kLeft, plain(kSmall));
  w.run_until(w.now + 1_s);
  EXPECT_EQ(sizes(w), (std::vector<size_t>{kLarge, kLarge, kLarge, kSmall, kSmall, kSmall, kLarge,
                                           kLarge, kLarge, kLarge, kLarge, kLarge, kLarge}));
}

TEST(Classes, TheLinkIsPacedAsWithOneClass) {
  World w = by_size({1, kFirst});
  const Nanos start = w.now;
  for (int i = 0; i < 20; ++i) w.arrive(kLeft, plain(i % 2 == 0 ? kLarge : kSmall));
  w.run_until(w.now + 1_s);
  const auto& when = w.port(kRight).when;
  ASSERT_EQ(when.size(), 20U);
  EXPECT_EQ(when[10] - start, 5_ms) << "the small ones went first";
  EXPECT_EQ(when[19] - start, 5_ms + 9_ms);
}

TEST(Classes, SharesFollowTheWeightsAndTheirChanges) {
  for (const double share : {0.5, 0.25, 0.9, 0.01}) {
    World w = by_size({share, 1 - share});
    for (int i = 0; i < 2000; ++i) w.arrive(kLeft, plain(i % 2 == 0 ? kLarge : kSmall));
    w.run_until(w.now + 400_ms);  // 400 of 1500 KB: both classes always have packets waiting
    const auto sent = sizes(w);
    EXPECT_NEAR(bytes_of_class(sent, kLarge) / 400e3, share, 0.005) << share;
    EXPECT_NEAR(bytes_of_class(sent, kSmall) / 400e3, 1 - share, 0.005) << share;
  }
  World w = by_size({0.5, 0.5});
  for (int i = 0; i < 3000; ++i) w.arrive(kLeft, plain(i % 2 == 0 ? kLarge : kSmall));
  w.run_until(w.now + 200_ms);
  sizes(w);
  ScriptedLaw::law->set_weight(0, 1.5);
  w.run_until(w.now + 400_ms);
  EXPECT_NEAR(bytes_of_class(sizes(w), kLarge) / 400e3, 0.75, 0.01);
}

TEST(Classes, WhatOneClassDoesNotUseIsTheOthers) {
  World w = by_size({0.01, 0.99});
  for (int i = 0; i < 300; ++i) w.arrive(kLeft, plain(kLarge));
  w.run_until(w.now + 200_ms);
  EXPECT_NEAR(bytes_of_class(sizes(w), kLarge), 200e3, 2e3);
  // A class gains no credit while idle, and pays nothing for having been alone.
  for (int i = 0; i < 600; ++i) w.arrive(kLeft, plain(kSmall));
  w.run_until(w.now + 100_ms);
  EXPECT_NEAR(bytes_of_class(sizes(w), kLarge), 1e3, 1.1e3);
}

TEST(Classes, EachHasTheWholeBuffer) {
  World w = by_size({1, 1}, 10'000);
  for (int i = 0; i < 30; ++i) w.arrive(kLeft, plain(kLarge));
  for (int i = 0; i < 30; ++i) w.arrive(kLeft, plain(kSmall));
  w.poll(w.now);
  EXPECT_EQ(w.drops(DropReason::kQueueFull), 20U + 10U);
  EXPECT_NEAR(static_cast<double>(w.snapshot().links[kRight].queued_bytes), 20e3, 1e3);
  w.arrive(kLeft, plain(200));
  w.poll(w.now);
  const LinkState& state = ScriptedLaw::law->state;
  EXPECT_DOUBLE_EQ(state.queues[0] + state.queues[1], state.queue);
  EXPECT_NEAR(state.queues[1], 10'000, 500);
}

TEST(Classes, SeveralWorkersKeepEachClassInOrder) {
  ScriptedLaw::script = {.weights = {1, 3},
                         .classify = [](const LinkPacket& p) { return p.size % 2; }};
  config::Topology t = topology();
  t.links[kRight].directions[0].rate = 8_Mbps;
  RouterOptions options;
  options.find = ScriptedLaw::find;
  World w(3, t, options);
  for (int i = 0; i < 150; ++i) {
    w.arrive(kLeft, plain(static_cast<uint16_t>(200 + i)), static_cast<unsigned>(i * 7 % 3));
    w.poll(w.now + 1_us);
  }
  w.run_until(w.now + 1_s);
  std::array<size_t, 2> last{};
  size_t count = 0;
  for (const size_t size : sizes(w)) {
    EXPECT_GT(size, last[size % 2]);
    last[size % 2] = size;
    ++count;
  }
  EXPECT_EQ(count, 150U);
}

TEST(Classes, AClassThatIsNoneIsTheLast) {
  ScriptedLaw::script = {.weights = {1, 1}, .classify = [](const LinkPacket&) { return 77U; }};
  RouterOptions options;
  options.find = ScriptedLaw::find;
  World w(1, topology(), options);
  w.arrive(kLeft, plain(300));
  w.poll(w.now);
  EXPECT_EQ(ScriptedLaw::law->seen.at(0).queue_class, 1);
  EXPECT_EQ(w.sent(kRight).size(), 1U);
}

TEST(Classes, ARingWithoutSlotsIsCountedByClassToo) {
  auto small = Pool::create("class-slots", {.mbufs = 63, .cache = 0});
  ASSERT_TRUE(small);
  ScriptedLaw::script = {.weights = {1, 1},
                         .classify = [](const LinkPacket& p) { return p.size % 2; }};
  config::Topology t = topology();
  t.links[kRight].directions[0].rate = BitRate(1e3);
  RouterOptions options;
  options.find = ScriptedLaw::find;
  MemoryPort at[kLinks];
  const std::vector<std::vector<QueuePair*>> ports{{&at[0]}, {&at[1]}, {&at[2]}};
  const std::vector<rte_mempool*> pools{small->get()};
  auto router = Router::make(t, 0, ports, pools, options);
  ASSERT_TRUE(router);
  for (int i = 0; i < 160; ++i) at[kLeft].in.push_back(testing::make_mbuf(plain(101)));
  for (int i = 0; i < 5; ++i) (*router)->worker(0).poll(1_s);
  const Snapshot s = (*router)->snapshot();
  EXPECT_TRUE(s.conserved());
  EXPECT_GE(s.drops[static_cast<size_t>(DropReason::kQueueSlots)], 1U);
  at[kLeft].in.push_back(testing::make_mbuf(plain(100)));
  (*router)->worker(0).poll(1_s);
  // The law saw in class 1, at its last burst, exactly the bytes held there.
  EXPECT_DOUBLE_EQ(ScriptedLaw::law->state.queues[1], static_cast<double>(s.held) * 101);
  (*router)->worker(0).discard();
}

TEST(ClassScheduler, PrioritiesComeInOrder) {
  ClassScheduler s;
  s.set_weight(1, kFirst);
  s.set_weight(3, kFirst);
  EXPECT_EQ(s.pick(0b1111), 1U);
  EXPECT_EQ(s.pick(0b1101), 3U);
  EXPECT_EQ(s.pick(0b0101), 0U);
}

TEST(ClassScheduler, NoBacklogSeesMoreThanAPacketOfUnfairness) {
  // Goyal's bound for two backlogged classes: |W1/w1 - W2/w2| <= l1/w1 + l2/w2, at any time.
  ClassScheduler s;
  const std::array<double, 3> weight{5, 2, 1}, size{1500, 40, 900};
  for (unsigned c = 0; c < 3; ++c) s.set_weight(c, weight[c]);
  std::array<double, 3> served{};
  for (int i = 0; i < 10'000; ++i) {
    const unsigned c = s.pick(0b111);
    s.served(c, size[c]);
    served[c] += size[c];
    for (unsigned a = 0; a < 3; ++a)
      for (unsigned b = 0; b < a; ++b)
        ASSERT_LE(std::fabs(served[a] / weight[a] - served[b] / weight[b]),
                  size[a] / weight[a] + size[b] / weight[b] + 1e-6);
  }
}

TEST(ClassScheduler, ATreeSharesByTheWeightsOfEachLevel) {
  // Parents 2 : 1; in the first one classes 3 : 1, in the second one a strict class.
  ClassScheduler s;
  const std::array<unsigned, 4> parent{0, 0, 1, 1};
  for (unsigned c = 0; c < 4; ++c) s.set_parent(c, parent[c], c < 2 ? 2 : 1);
  for (unsigned c = 0; c < 4; ++c) s.set_weight(c, std::array{3.0, 1.0, 5.0, kFirst}[c]);
  const auto serve = [&](uint32_t waiting) {
    std::array<double, 4> bytes{};
    for (int i = 0; i < 24'000; ++i) {
      const unsigned c = s.pick(waiting);
      EXPECT_EQ(waiting >> c & 1, 1U);
      const double size = c % 2 == 0 ? 1500 : 400;
      s.served(c, size);
      bytes[c] += size;
    }
    const double all = bytes[0] + bytes[1] + bytes[2] + bytes[3];
    for (double& b : bytes) b /= all;
    return bytes;
  };
  const auto all = serve(0b1111);
  EXPECT_NEAR(all[0], 0.5, 0.002);
  EXPECT_NEAR(all[1], 1.0 / 6, 0.002);
  EXPECT_NEAR(all[2], 0, 1e-9) << "behind the strict class of its parent";
  EXPECT_NEAR(all[3], 1.0 / 3, 0.002);
  const auto without = serve(0b0110);
  EXPECT_NEAR(without[1], 2.0 / 3, 0.002) << "an idle class's part stays in its parent";
  EXPECT_NEAR(without[2], 1.0 / 3, 0.002);
  EXPECT_NEAR(serve(0b0011)[0], 0.75, 0.002) << "an idle parent's part goes to the other";
  EXPECT_NEAR(serve(0b1000)[3], 1, 1e-9);
}

TEST(ClassScheduler, StaysFairBeyondTheRestartOfItsTimes) {
  ClassScheduler s;
  for (unsigned c = 0; c < 2; ++c) s.set_weight(c, c == 0 ? 3e-7 : 1e-7);
  std::array<double, 2> served{};
  for (int i = 0; i < 100'000; ++i) {  // 5e10 of virtual time each
    const unsigned c = s.pick(0b11);
    s.served(c, 9000);
    served[c] += 9000;
    ASSERT_LE(std::fabs(served[0] / 3 - served[1]), 9001 * (1 + 1.0 / 3));
  }
}

TEST(Classes, ALinkThatIsDownLeavesNoBytesInTheQueues) {
  World w = by_size({1, kFirst});
  w.port(kRight).room = 0;
  for (int i = 0; i < 20; ++i) w.arrive(kLeft, plain(i % 2 == 0 ? kLarge : kSmall));
  w.poll(w.now);
  w.router().set_link_up(kRight, false);
  w.poll(w.now + 1_us);
  EXPECT_EQ(w.snapshot().held, 0U);
  w.router().set_link_up(kRight, true);
  w.port(kRight).room = SIZE_MAX;
  w.arrive(kLeft, plain(kSmall));
  w.poll(w.now);
  EXPECT_EQ(ScriptedLaw::law->state.queues[0], 0);
  EXPECT_EQ(ScriptedLaw::law->state.queues[1], 0);
  w.run_until(w.now + 1_s);
  EXPECT_EQ(sizes(w), std::vector<size_t>{kSmall});
  EXPECT_EQ(w.drops(DropReason::kLinkDown), 20U);
}

}  // namespace
}  // namespace turnpike::router::test
