// SPDX-License-Identifier: BSD-3-Clause
// Packets that wait for a neighbour leave in order once it is known.
#include "router/datapath/punt/neighbour_queue.h"

#include <gtest/gtest.h>

#include "tests/support/eal.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

PacketInfo info() { return {.l3 = 14, .datagram = 58, .link = kRight}; }

TEST(NeighbourQueue, KeepsTheOrderOfThoseThatStay) {
  const auto queue = NeighbourQueue::make(-1);
  ASSERT_NE(queue, nullptr);
  rte_mempool* pool = testing::test_pool().get();
  std::vector<rte_mbuf*> packets;
  for (const char* to : {"10.0.2.7", "10.0.2.8", "10.0.2.7", "10.0.2.9", "10.0.2.8"}) {
    packets.push_back(testing::make_mbuf(v4({.destination = to}), SIZE_MAX, pool));
    ASSERT_TRUE(queue->add(packets.back(), info(), 1_s));
  }
  EXPECT_FALSE(queue->holds_since(1_s - 1_ns));
  EXPECT_TRUE(queue->holds_since(1_s));
  EXPECT_FALSE(queue->due(1_s));
  EXPECT_TRUE(queue->due(1_s + NeighbourQueue::kInterval));
  std::vector<rte_mbuf*> gone, kept;
  queue->update(2_s, [&](const NeighbourQueue::Waiting& w) {
    const bool resolved = w.destination == ipv6("::ffff:10.0.2.8");
    (resolved ? gone : kept).push_back(w.mbuf);
    return resolved;
  });
  EXPECT_EQ(gone, (std::vector{packets[1], packets[4]}));
  EXPECT_EQ(kept, (std::vector{packets[0], packets[2], packets[3]}));
  EXPECT_EQ(queue->waiting(), 3U);
  kept.clear();
  queue->update(3_s, [&](const NeighbourQueue::Waiting& w) {
    kept.push_back(w.mbuf);
    return true;
  });
  EXPECT_EQ(kept, (std::vector{packets[0], packets[2], packets[3]}));
  EXPECT_EQ(queue->next(), kNever);
  EXPECT_FALSE(queue->holds_since(3_s));
  for (rte_mbuf* m : packets) rte_pktmbuf_free(m);
}

TEST(NeighbourQueue, ANeighbourHasRoomAgainWhenItsPacketsHaveLeft) {
  const auto queue = NeighbourQueue::make(-1);
  rte_mbuf* m =
      testing::make_mbuf(v4({.destination = "10.0.2.7"}), SIZE_MAX, testing::test_pool().get());
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < NeighbourQueue::kPerNeighbour; ++i)
      EXPECT_TRUE(queue->add(m, info(), 1_s));
    EXPECT_FALSE(queue->add(m, info(), 1_s));
    queue->update(1_s, [](const NeighbourQueue::Waiting&) { return true; });
  }
  rte_pktmbuf_free(m);
}

TEST(NeighbourQueue, WithoutRoomForARequestNothingWaits) {
  const auto queue = NeighbourQueue::make(-1);
  rte_mbuf* m =
      testing::make_mbuf(v4({.destination = "10.0.2.7"}), SIZE_MAX, testing::test_pool().get());
  for (unsigned i = 0; i < NeighbourQueue::kRequests; ++i) {
    ASSERT_TRUE(queue->add(m, info(), 1_s));
    queue->update(1_s, [](const NeighbourQueue::Waiting&) { return true; });
  }
  EXPECT_FALSE(queue->add(m, info(), 1_s));
  std::array<NeighbourRequest, 64> asked;
  EXPECT_EQ(queue->requests(asked), asked.size());
  EXPECT_TRUE(queue->add(m, info(), 1_s));
  queue->update(1_s, [](const NeighbourQueue::Waiting&) { return true; });
  rte_pktmbuf_free(m);
}

}  // namespace
}  // namespace turnpike::router::test
