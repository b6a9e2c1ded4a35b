// SPDX-License-Identifier: BSD-3-Clause
// Shaped and line-rate links: the pace, the order, the limit.
#include <random>

#include <gtest/gtest.h>

#include "common/wire/bytes.h"
#include "tests/support/eal.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

config::Topology shaped(double bits_per_second, int64_t buffer, int64_t overhead = 0) {
  config::Topology t = topology();
  config::Direction& d = t.links[kRight].directions[0];
  d.rate = BitRate(bits_per_second);
  d.buffer = Bytes(buffer);
  d.overhead = Bytes(overhead);
  d.law = {};
  return t;
}

TEST(Shaped, LeavesExactlyAtTheRateOnAVirtualClock) {
  for (const double rate : {1e6, 1e8, 3.3e8, 1e9, 7e9, 1e11}) {
    for (const uint16_t size : {100, 777, 1500}) {
      World w(1, shaped(rate, 10'000'000, 24));
      constexpr int kCount = 500;
      const Nanos start = w.now;
      for (int i = 0; i < kCount; ++i) w.arrive(kLeft, plain(size));
      w.run_until(start + 1000_s);
      const auto& when = w.port(kRight).when;
      ASSERT_EQ(when.size(), static_cast<size_t>(kCount));
      for (int i = 0; i < kCount; ++i) {
        const double ideal = i * (size + 24) * 8e9 / rate;
        // Never early, and less than two nanoseconds late: errors do not accumulate.
        EXPECT_GE(static_cast<double>((when[static_cast<size_t>(i)] - start).count()),
                  ideal - 1e-3);
        EXPECT_LE(static_cast<double>((when[static_cast<size_t>(i)] - start).count()), ideal + 2);
      }
    }
  }
}

TEST(Shaped, MatchesTheRecurrenceForRandomArrivals) {
  std::mt19937_64 random(3);
  World w(1, shaped(1e8, 10'000'000));
  double free = 0;
  std::vector<double> ideal;
  for (int i = 0; i < 2000; ++i) {
    w.run_until(w.now + Nanos(static_cast<int64_t>(random() % 120'000)));
    const auto size = static_cast<uint16_t>(100 + random() % 1400);
    w.arrive(kLeft, plain(size));
    w.poll(w.now);
    free = std::max(free, static_cast<double>(w.now.count()));
    ideal.push_back(free);
    free += size * 80.0;
  }
  w.run_until(w.now + 10_s);
  const auto& when = w.port(kRight).when;
  ASSERT_EQ(when.size(), ideal.size());
  for (size_t i = 0; i < ideal.size(); ++i)
    EXPECT_NEAR(static_cast<double>(when[i].count()), ideal[i], 1) << i;
}

TEST(Shaped, LatePollsCatchUpNoFurtherThanTheSlack) {
  constexpr int kCount = 64;
  constexpr double kEach = 120'000;  // ns for 1500 B at 100 Mbps
  for (const auto& [slack, at_once] : {std::pair{0, 1}, {240'000, 3}, {100'000'000, 42}}) {
    RouterOptions options;
    options.slack = Nanos(slack);
    World w(1, shaped(1e8, 10'000'000), options);
    for (int i = 0; i < kCount; ++i) w.arrive(kLeft, plain(1500));
    w.poll(w.now);
    EXPECT_EQ(w.sent(kRight).size(), 1U);
    w.poll(w.now + Nanos(static_cast<int64_t>(kEach * 42)));  // exactly 42 more packets fit
    EXPECT_EQ(w.sent(kRight).size(), static_cast<size_t>(at_once)) << slack;
  }
}

TEST(Shaped, ALatePollFindsTheRoomThatTheLinkHasMade) {
  RouterOptions options;
  options.slack = 100_ms;
  World w(1, shaped(1e8, 15'000), options);
  const auto burst = [&](Nanos when) {
    for (int i = 0; i < 10; ++i) w.arrive(kLeft, plain(1500));
    w.poll(when);
  };
  burst(w.now);
  burst(w.now + 1200_us);  // all ten have left
  EXPECT_EQ(w.drops(DropReason::kQueueFull), 0U);
  EXPECT_EQ(w.sent(kRight).size(), 11U);
}

TEST(Shaped, AnIdleLinkSavesUpNothing) {
  RouterOptions options;
  options.slack = 100_ms;
  World w(1, shaped(1e8, 10'000'000), options);
  w.arrive(kLeft, plain(1500));
  w.poll(w.now);
  EXPECT_EQ(w.sent(kRight).size(), 1U);
  for (int i = 0; i < 10; ++i) w.arrive(kLeft, plain(1500));
  w.poll(w.now + 5_s);
  EXPECT_EQ(w.sent(kRight).size(), 1U);
}

TEST(Shaped, TheBufferCountsBytesAndDropsTheTail) {
  World w(1, shaped(1e6, 10'000));
  // One burst: all of the backlog is its own.
  for (int i = 0; i < 20; ++i) w.arrive(kLeft, plain(1500));
  w.arrive(kLeft, plain(999));
  w.arrive(kLeft, plain(900));
  w.arrive(kLeft, plain(100));
  w.arrive(kLeft, plain(101));
  w.poll(w.now);
  // 6 x 1500 fit, then 999 as well (9999), and nothing else.
  EXPECT_EQ(w.drops(DropReason::kQueueFull), 14U + 3U);
  EXPECT_EQ(w.sent(kRight).size(), 1U);  // the first left at once
  EXPECT_EQ(w.snapshot().links[kRight].queued_bytes, 8499U);
  w.arrive(kLeft, plain(1501 - 1));
  w.arrive(kLeft, plain(100));
  w.poll(w.now);  // 8499 + 1500 fits, the next does not
  EXPECT_EQ(w.drops(DropReason::kQueueFull), 18U);
  w.run_until(w.now + 10_s);
  EXPECT_EQ(w.sent(kRight).size(), 7U);
  EXPECT_EQ(w.snapshot().held, 0U);
}

TEST(Shaped, AQueueWithoutSlotsHasItsOwnReason) {
  // A queue has as many slots as its worker's pool has packets; these come from another pool.
  auto small = Pool::create("small", {.mbufs = 63, .cache = 0});
  ASSERT_TRUE(small);
  MemoryPort at[kLinks];
  const std::vector<std::vector<QueuePair*>> ports{{&at[0]}, {&at[1]}, {&at[2]}};
  const std::vector<rte_mempool*> pools{small->get()};
  auto router = Router::make(shaped(1e3, 10'000'000), 0, ports, pools, {});
  ASSERT_TRUE(router);
  for (int i = 0; i < 96; ++i) at[kLeft].in.push_back(testing::make_mbuf(plain(100)));
  for (int i = 0; i < 3; ++i) (*router)->worker(0).poll(1_s);
  const Snapshot s = (*router)->snapshot();
  EXPECT_TRUE(s.conserved());
  const uint64_t dropped = s.drops[static_cast<size_t>(DropReason::kQueueSlots)];
  EXPECT_GE(dropped, 1U);
  EXPECT_EQ(s.held, 95 - dropped);
  EXPECT_EQ(s.dropped(), dropped);
  (*router)->worker(0).discard();
}

TEST(Shaped, SeveralWorkersFeedOneLinkInOrderOfTime) {
  World w(3, shaped(1e8, 10'000'000));
  std::vector<uint16_t> sizes;
  for (int i = 0; i < 300; ++i) {
    const auto size = static_cast<uint16_t>(200 + i);
    sizes.push_back(size);
    w.arrive(kLeft, plain(size), static_cast<unsigned>(i * 7 % 3));
    w.poll(w.now + 100_ns);
  }
  w.run_until(w.now + 10_s);
  const auto out = w.sent(kRight);
  ASSERT_EQ(out.size(), sizes.size());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i].size(), sizes[i] + 14U) << i;
}

TEST(Shaped, APortThatTakesNothingLeavesThePacketsInTheQueue) {
  World w(1, shaped(1e9, 10'000'000));
  w.port(kRight).room = 5;
  for (int i = 0; i < 100; ++i) w.arrive(kLeft, plain(1500));
  Nanos next = w.poll(w.now);
  for (int i = 0; i < 200; ++i) next = w.poll(std::max(w.now + 1_us, next));
  EXPECT_EQ(w.sent(kRight).size(), 5U);
  EXPECT_EQ(w.snapshot().held, 95U);
  w.port(kRight).room = SIZE_MAX;
  w.run_until(w.now + 1_s);
  EXPECT_EQ(w.sent(kRight).size(), 95U);
  EXPECT_EQ(w.snapshot().dropped(), 0U);
}

/// Packets that arrived in a stall of 20 ms, in which the link could have carried 166, and a port
/// that takes 5 packets.
class StalledTest : public ::testing::Test {
 protected:
  StalledTest() {
    w.port(kRight).room = 5;
    for (int i = 0; i < 160; ++i) w.arrive(kLeft, plain(1500));
    w.now += 20_ms;
    worker().stall(w.now - 20_ms, w.now);
    for (int i = 0; i < 10; ++i) worker().poll(w.now);
  }
  Worker& worker() { return w.router().worker(0); }
  size_t received() { return w.snapshot().received; }

  World w{1, shaped(1e8, 3000), {.slack = 200_ms}};
};

TEST_F(StalledTest, PacketsWaitWhereTheyAreUntilTheNextPortHasRoom) {
  EXPECT_LT(received(), 160U);
  w.port(kRight).room = SIZE_MAX;
  w.run_until(w.now + 1_s);
  EXPECT_EQ(w.sent(kRight).size(), 160U);
  EXPECT_EQ(w.snapshot().dropped(), 0U);
}

TEST_F(StalledTest, PacketsWaitNoLongerThanTheStallTook) {
  worker().poll(w.now + 20_ms - 1_ns);
  EXPECT_LT(received(), 160U);
  w.now += 20_ms;
  for (int i = 0; i < 10; ++i) worker().poll(w.now);
  EXPECT_EQ(received(), 160U);
  EXPECT_GT(w.drops(DropReason::kQueueFull), 0U);
  worker().discard();
}

TEST(LineRate, SendsAtOnceAndDropsWhatThePortRefuses) {
  World w;
  w.port(kNarrow).room = 10;
  const Frame f = ethernet(kLeft, 0x0800, ipv4_datagram({.destination = "172.16.5.1"}, bytes(100)));
  for (int i = 0; i < 300; ++i) w.arrive(kLeft, f);
  w.poll(w.now);
  EXPECT_EQ(w.sent(kNarrow).size(), 10U);
  EXPECT_EQ(w.snapshot().held, PortTx::kSlots);
  EXPECT_EQ(w.drops(DropReason::kTxFull), 300 - 10 - PortTx::kSlots);
  const uint64_t bytes_of_ten = w.snapshot().links[kNarrow].tx_bytes;
  EXPECT_EQ(bytes_of_ten, 10 * 120U);
  w.port(kNarrow).room = SIZE_MAX;
  w.run_until(w.now + 1_ms);
  EXPECT_EQ(w.sent(kNarrow).size(), PortTx::kSlots);
  EXPECT_EQ(w.snapshot().links[kNarrow].tx_bytes * 10, bytes_of_ten * (10 + PortTx::kSlots));
}

TEST(LineRate, TheVirtualQueueHoldsWhatTheLinkCannotHaveCarried) {
  config::Topology t = topology();
  t.links[kNarrow].directions[0].rate = 8_Mbps;  // 1 B/us
  t.links[kNarrow].directions[0].buffer = Bytes(1000);
  const Frame f = ethernet(kLeft, 0x0800, ipv4_datagram({.destination = "172.16.5.1"}, bytes(80)));
  for (const unsigned workers : {1U, 2U}) {
    World w(workers, t);
    for (int i = 0; i < 20; ++i) w.arrive(kLeft, f, static_cast<unsigned>(i) % workers);
    w.poll(w.now);
    EXPECT_EQ(w.sent(kNarrow).size(), 10U) << "1000 B of buffer";
    for (int i = 0; i < 20; ++i) w.arrive(kLeft, f, static_cast<unsigned>(i) % workers);
    w.poll(w.now + 500_us);
    EXPECT_EQ(w.sent(kNarrow).size(), 5U) << "500 B carried since";
    EXPECT_EQ(w.drops(DropReason::kQueueFull), 25U);
  }
}

TEST(LineRate, WorkersWithoutAQueueHandOverToTheOwner) {
  // The test router, with a port at which only worker 1 has a queue.
  rte_mempool* pool = World().pool();
  std::vector<std::unique_ptr<MemoryPort>> keep;
  std::vector<std::vector<QueuePair*>> ports;
  for (size_t l = 0; l < kLinks; ++l) {
    ports.emplace_back();
    for (unsigned k = 0; k < 2; ++k) {
      keep.push_back(std::make_unique<MemoryPort>());
      ports[l].push_back(l == kNarrow && k == 0 ? nullptr : keep.back().get());
    }
  }
  RouterOptions options;
  options.workers = 2;
  const std::vector<rte_mempool*> pools(2, pool);
  auto router = Router::make(topology(), 0, ports, pools, options);
  ASSERT_TRUE(router);
  const Frame f = ethernet(kLeft, 0x0800, ipv4_datagram({.destination = "172.16.5.1"}, bytes(80)));
  auto* left = static_cast<MemoryPort*>(ports[kLeft][0]);
  for (int i = 0; i < 10; ++i) {
    rte_mbuf* m = rte_pktmbuf_alloc(pool);
    std::memcpy(rte_pktmbuf_append(m, static_cast<uint16_t>(f.size())), f.data(), f.size());
    left->in.push_back(m);
  }
  (*router)->worker(0).poll(1_s);
  EXPECT_EQ((*router)->held(), 10U);
  (*router)->worker(1).poll(1_s);
  EXPECT_EQ((*router)->held(), 0U);
  EXPECT_EQ(static_cast<MemoryPort*>(ports[kNarrow][1])->out.size(), 10U);
  EXPECT_TRUE((*router)->snapshot().conserved());

  ports[kNarrow][1] = nullptr;
  EXPECT_FALSE(Router::make(topology(), 0, ports, pools, options));
}

TEST(Shutdown, WhatIsHeldHasAReasonToo) {
  World w(1, shaped(1e6, 1'000'000));
  for (int i = 0; i < 50; ++i) w.arrive(kLeft, plain(1000));
  w.poll(w.now);
  w.router().worker(0).stop_receiving();
  w.arrive(kLeft, plain(1000));
  w.router().worker(0).poll(w.now);
  EXPECT_EQ(w.snapshot().received, 50U);
  w.router().worker(0).discard();
  EXPECT_EQ(w.drops(DropReason::kShutdown), 49U);
  EXPECT_EQ(w.snapshot().held, 0U);
}

TEST(LinkRing, GrowsWhereOneThreadUsesBothEnds) {
  constexpr uint32_t kMany = 100'000;
  const auto ring = LinkRing::make(kMany, -1, 1, /*growing=*/true);
  ASSERT_NE(ring, nullptr);
  EXPECT_LT(LinkRing::memory(LinkRing::kFirstSlots), size_t{16} << 10);
  uint32_t in = 0, out = 0;
  const auto pop = [&](unsigned most) {
    std::array<QueuedPacket, 32> taken;
    const unsigned n = ring->pop(std::span(taken).first(most));
    for (unsigned k = 0; k < n; ++k) ASSERT_EQ(taken[k].size, out++);
  };
  while (in < kMany) {
    std::array<QueuedPacket, 32> batch;
    for (QueuedPacket& q : batch) q.size = in++;
    ASSERT_EQ(ring->push(batch), batch.size());
    pop(7);  // moves the ring's position, so that it grows at all positions
  }
  while (out < in) pop(32);
  std::array<QueuedPacket, 1> none;
  EXPECT_EQ(ring->pop(none), 0U);
}

}  // namespace
}  // namespace turnpike::router::test
