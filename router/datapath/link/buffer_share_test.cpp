// SPDX-License-Identifier: BSD-3-Clause
// Slow links and others on one pool.
#include "router/datapath/link/buffer_share.h"

#include <array>
#include <random>

#include <gtest/gtest.h>

#include "tests/support/eal.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

// All links take as much as they may, in any order: each gets its guaranteed buffers, and the pool
// keeps its headroom.
TEST(BufferShare, KeepsGuaranteesAndHeadroomUnderAnyLoad) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 30; ++trial) {
    auto pool = Pool::create("share", {.mbufs = 2047, .cache = 0});
    ASSERT_TRUE(pool) << pool.error();
    std::array<uint32_t, 5> wanted;
    uint64_t all = 0;
    for (uint32_t& w : wanted) all += w = static_cast<uint32_t>(random() % 600);
    constexpr uint32_t kHeadroom = 64;
    BufferShare share(pool->get(), wanted, kHeadroom);
    std::array<std::vector<rte_mbuf*>, wanted.size()> held;
    const auto take = [&](size_t link, unsigned most) {
      if (share.scarce()) share.share([&](size_t l) { return held[l].size(); });
      const bool scarce = share.scarce();
      for (unsigned n = 0; n < most; ++n) {
        if (scarce && held[link].size() >= share.limit(link)) return;
        rte_mbuf* m = rte_pktmbuf_alloc(pool->get());
        ASSERT_NE(m, nullptr) << "the pool is empty";
        held[link].push_back(m);
      }
    };
    const size_t last = random() % wanted.size();  // the last link to ask
    for (int i = 0; i < 400; ++i) {
      const size_t link = random() % wanted.size();
      if (link != last) take(link, 32);
      if (random() % 3 == 0 && !held[link].empty()) {
        rte_pktmbuf_free(held[link].back());
        held[link].pop_back();
      }
    }
    EXPECT_GE(rte_mempool_avail_count(pool->get()), kHeadroom);
    const uint64_t most = (2047 - kHeadroom) / 2;
    const uint64_t guaranteed = all <= most ? wanted[last] : wanted[last] * most / all;
    for (int i = 0; i < 100; ++i) take(last, 32);
    EXPECT_GE(held[last].size(), guaranteed);
    for (auto& of_link : held)
      for (rte_mbuf* m : of_link) rte_pktmbuf_free(m);
  }
}

TEST(BufferShare, OneLinkAloneMayHoldMostOfThePool) {
  auto pool = Pool::create("share", {.mbufs = 4095, .cache = 0});
  ASSERT_TRUE(pool) << pool.error();
  BufferShare share(pool->get(), std::array<uint32_t, 2>{100, 100}, 64);
  std::vector<rte_mbuf*> held;
  for (;;) {
    if (share.scarce()) {
      share.share([&](size_t l) { return l == 0 ? held.size() : 0; });
      if (held.size() >= share.limit(0)) break;
    }
    held.push_back(rte_pktmbuf_alloc(pool->get()));
    ASSERT_NE(held.back(), nullptr);
  }
  // The guaranteed buffers and half of the shared ones.
  EXPECT_NEAR(static_cast<double>(held.size()), (4095 - 64 - 200) / 2 + 100, 2);
  for (rte_mbuf* m : held) rte_pktmbuf_free(m);
}

// Small packets to a link of 1 Mbps whose buffer in bytes admits all of them.
TEST(BufferShare, ASlowLinkLeavesOthersTheirBuffers) {
  config::Topology t = topology();
  config::Direction& slow = t.links[kRight].directions[0];
  slow.rate = 1_Mbps;
  slow.buffer = Bytes(10'000'000);
  slow.law = {};
  RouterOptions options;
  options.share_pool = true;
  World w(1, t, options);
  size_t elsewhere = 0;
  constexpr int kRounds = 1000, kEach = 31;
  for (int i = 0; i < kRounds; ++i) {
    for (int k = 0; k < kEach; ++k) w.arrive(kLeft, plain(64));
    w.arrive(kLeft, v4({.destination = "10.0.3.2"}));
    w.poll(w.now + 1_us);
    elsewhere += w.sent(kNarrow).size();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << i;
  }
  EXPECT_EQ(elsewhere, size_t{kRounds});
  EXPECT_GT(w.drops(DropReason::kBufferShare), 10'000U);
  EXPECT_EQ(w.drops(DropReason::kQueueFull), 0U);
}

}  // namespace
}  // namespace turnpike::router::test
