// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/rss_steering.h"

#include <array>
#include <deque>

#include "tests/support/eal.h"

namespace turnpike {
namespace {

constexpr uint16_t kBuckets = 128;
constexpr uint32_t kDescriptors = 100;

rte_mbuf* packet(uint32_t hash, bool hashed = true) {
  rte_mbuf* m = testing::make_mbuf(std::vector<uint8_t>(60));
  m->hash.rss = hash;
  if (hashed) m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
  return m;
}

/// Two queues of a port, and the lcores that poll them.
class Steering : public ::testing::Test {
 protected:
  Steering() { port = steering.add_port(kBuckets, 2); }
  ~Steering() override {
    for (auto& ring : rings)
      for (rte_mbuf* m : ring) rte_pktmbuf_free(m);
  }
  /// Hashes of the packets that lcore `queue` receives in a poll at `now`.
  std::vector<uint32_t> poll(uint16_t queue, Nanos now, size_t most = 32) {
    std::vector<rte_mbuf*> out(most);
    const uint16_t n = steering.rx(port, queue, now, out, [&](std::span<rte_mbuf*> room) {
      uint16_t k = 0;
      for (auto& ring = rings[queue]; k < room.size() && !ring.empty(); ring.pop_front())
        room[k++] = ring.front();
      return k;
    });
    std::vector<uint32_t> hashes;
    for (uint16_t i = 0; i < n; ++i) {
      hashes.push_back(out[i]->hash.rss);
      rte_pktmbuf_free(out[i]);
    }
    return hashes;
  }
  void arrive(uint16_t queue, std::initializer_list<uint32_t> hashes) {
    for (const uint32_t h : hashes) rings[queue].push_back(packet(h));
  }
  void begin() {
    steering.begin(
        {.port = port, .from = 0, .to = 1, .buckets = {5, 70}, .rx_descriptors = kDescriptors});
  }
  /// The move up to the time at which lcore 0 takes what its ring has.
  void begin_and_write() {
    begin();
    poll(1, 1_us);
    steering.table_written(2_us);
  }

  using Hashes = std::vector<uint32_t>;
  RssSteering steering;
  unsigned port = 0;
  std::array<std::deque<rte_mbuf*>, 2> rings;
};

TEST_F(Steering, IsOffUntilTheControlThreadNeedsIt) {
  EXPECT_FALSE(steering.on());
  arrive(0, {5, 6});
  EXPECT_EQ(poll(0, 1_us), (Hashes{5, 6}));
  EXPECT_FALSE(steering.leaving(0));
}

TEST_F(Steering, CountsPacketsByBucketWhileAsked) {
  arrive(0, {5, kBuckets + 5, 6});
  rings[0].push_back(packet(7, /*hashed=*/false));
  arrive(1, {5});
  steering.start_counting();
  EXPECT_EQ(poll(0, 1_us).size(), 4U);
  EXPECT_EQ(poll(1, 1_us).size(), 1U);
  steering.stop_counting();
  arrive(0, {5});
  EXPECT_EQ(poll(0, 2_us).size(), 1U);
  EXPECT_EQ(steering.counted(port, 0, 5), 2U);
  EXPECT_EQ(steering.counted(port, 0, 6), 1U);
  EXPECT_EQ(steering.counted(port, 0, 7), 0U);
  EXPECT_EQ(steering.counted(port, 1, 5), 1U);
}

TEST_F(Steering, ParksMovedBucketsUntilTheSourceHasLeft) {
  begin();
  EXPECT_FALSE(steering.parks());
  arrive(1, {1});
  EXPECT_EQ(poll(1, 1_us), (Hashes{1}));
  EXPECT_TRUE(steering.parks());
  steering.table_written(2_us);
  arrive(1, {5, 2, kBuckets + 70, 3});
  EXPECT_EQ(poll(1, 3_us), (Hashes{2, 3}));
  EXPECT_EQ(steering.parked(), 2U);

  // Before the table's delay has passed, an empty ring says nothing.
  EXPECT_EQ(poll(0, 100_us), Hashes());
  EXPECT_FALSE(steering.leaving(0));
  arrive(0, {5});
  const Nanos later = 2_us + RssSteering::kTableDelay;
  EXPECT_EQ(poll(0, later), (Hashes{5}));
  EXPECT_FALSE(steering.leaving(0)) << "its ring was not empty";
  EXPECT_EQ(poll(0, later + 1_us), Hashes());
  EXPECT_TRUE(steering.leaving(0));
  EXPECT_FALSE(steering.leaving(1));
  steering.left(later + 1_us);
  EXPECT_FALSE(steering.leaving(0));

  // Both lcores begin a poll after that before the target passes on packets.
  arrive(1, {6, 5});
  EXPECT_EQ(poll(1, later + 1_us), (Hashes{6})) << "a poll that began no later";
  EXPECT_EQ(poll(1, later + 2_us), Hashes());
  EXPECT_EQ(poll(1, later + 3_us), Hashes()) << "lcore 0 has not polled";
  EXPECT_EQ(poll(0, later + 3_us), Hashes());
  arrive(1, {70});
  EXPECT_EQ(poll(1, later + 4_us, 2), (Hashes{5, kBuckets + 70}));
  EXPECT_EQ(poll(1, later + 5_us, 2), (Hashes{5}));
  EXPECT_TRUE(steering.busy());
  EXPECT_EQ(poll(1, later + 6_us), (Hashes{70})) << "parked packets first, then the ring's";
  EXPECT_FALSE(steering.busy());
  EXPECT_EQ(steering.dropped(port), 0U);
}

TEST_F(Steering, AnOverloadedSourceIsDoneAfterAFullRing) {
  begin_and_write();
  const Nanos later = 2_us + RssSteering::kTableDelay;
  size_t received = 0;
  for (int i = 0; !steering.leaving(0); ++i) {
    ASSERT_LT(i, 100);
    for (int k = 0; k < 40; ++k) arrive(0, {1});
    received += poll(0, later + Nanos(i)).size();
  }
  EXPECT_GE(received, kDescriptors);
  EXPECT_LT(received, kDescriptors + 128);
}

TEST_F(Steering, AnEmptyPoolIsNoEmptyRing) {
  begin_and_write();
  const Nanos later = 2_us + RssSteering::kTableDelay;
  std::array<rte_mbuf*, 4> out;
  for (const bool empty : {false, true}) {
    steering.rx(
        port, 0, later, out, [](std::span<rte_mbuf*>) { return uint16_t{0}; },
        [&] { return empty; });
    EXPECT_EQ(steering.leaving(0), empty);
  }
}

TEST_F(Steering, CountsPacketsForWhichThereIsNoPlace) {
  begin_and_write();
  for (uint32_t i = 0; i < RssSteering::kSlots + 10; ++i) {
    arrive(1, {5});
    EXPECT_EQ(poll(1, 3_us), Hashes());
  }
  EXPECT_EQ(steering.parked(), RssSteering::kSlots);
  EXPECT_EQ(steering.dropped(port), 10U);
  steering.discard();
  EXPECT_EQ(steering.dropped(port), RssSteering::kSlots + 10);
}

TEST_F(Steering, PacketsWithoutAHashAndOtherPortsDoNotMove) {
  const unsigned other = steering.add_port(kBuckets, 2);
  begin_and_write();
  rings[1].push_back(packet(5, /*hashed=*/false));
  EXPECT_EQ(poll(1, 3_us), (Hashes{5}));
  port = other;
  arrive(1, {5});
  EXPECT_EQ(poll(1, 3_us), (Hashes{5}));
  EXPECT_EQ(steering.parked(), 0U);
}

}  // namespace
}  // namespace turnpike
