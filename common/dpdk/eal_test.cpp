// SPDX-License-Identifier: BSD-3-Clause
// EAL's argument vector, and the errors that prevent a start.
#include "common/dpdk/eal.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/eal.h"

namespace turnpike {
namespace {

using Arguments = std::vector<std::string>;

TEST(EalArguments, OrdinaryMemoryAndNoPciUnlessAskedFor) {
  const EalOptions options{.program = "router", .workers = {1, 0}, .memory_mb = 512};
  const std::vector<unsigned> cpus = {0, 1};
  EXPECT_EQ(eal_arguments(options, cpus),
            (Arguments{"router", "--lcores", "0@(0,1),1@1,2@0", "--main-lcore", "0", "--no-huge",
                       "-m", "512", "--no-shconf", "--no-telemetry", "--file-prefix", "turnpike",
                       "--no-pci", "--log-level=*:error"}));
}

TEST(EalArguments, NicsWithHugepagesAndTheUsersOwnLast) {
  const EalOptions options{.program = "router",
                           .workers = {3},
                           .hugepages = true,
                           .pci = {"0000:03:00.0", "0000:03:00.1"},
                           .file_prefix = "r1",
                           .show_log = true,
                           .extra = {"--iova-mode", "va"}};
  const std::vector<unsigned> cpus = {2, 3};
  EXPECT_EQ(eal_arguments(options, cpus),
            (Arguments{"router", "--lcores", "0@(2,3),1@3", "--main-lcore", "0", "--in-memory",
                       "--no-telemetry", "--file-prefix", "r1", "-a", "0000:03:00.0", "-a",
                       "0000:03:00.1", "--iova-mode", "va"}));
}

TEST(Eal, ACpuThatIsNotThereIsNamed) {
  const auto eal = Eal::start({.workers = {100000}});
  ASSERT_FALSE(eal);
  EXPECT_NE(eal.error().find("CPU 100000 is not available"), std::string::npos) << eal.error();
}

TEST(Eal, MoreMemoryThanTheMachineHasIsNamed) {
  const auto eal = Eal::start({.memory_mb = UINT32_MAX});
  ASSERT_FALSE(eal);
  EXPECT_NE(eal.error().find("not enough memory"), std::string::npos) << eal.error();
}

TEST(Eal, HugepagesThatDoNotSufficeAreNamed) {
  EXPECT_EQ(hugepage_hint(800, 280), "");
  EXPECT_EQ(hugepage_hint(40, 280),
            " (free hugepages have 40 MB, and the topology needs about 280 MB; reserve some (as "
            "root: dpdk-hugepages.py --setup 2G) or run without hugepages)");
}

TEST(Eal, StartsOnlyOnceInAProcess) {
  const auto second = Eal::start({});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().find("once"), std::string::npos) << second.error();
}

TEST(Pool, CountsWhatIsOutAndTakesItsOwnName) {
  const PoolOptions options{.mbufs = 255, .cache = 32};
  auto a = Pool::create("a pool with a very long name", options);
  auto b = Pool::create("a pool with a very long name", options);
  ASSERT_TRUE(a) << a.error();
  ASSERT_TRUE(b) << b.error();
  EXPECT_EQ(a->in_use(), 0U);
  rte_mbuf* m = rte_pktmbuf_alloc(a->get());
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(a->in_use(), 1U);
  EXPECT_EQ(b->in_use(), 0U);
  rte_pktmbuf_free(m);
  EXPECT_EQ(a->in_use(), 0U);
}

TEST(Pool, HoldsZerosAtFirstWhereAsked) {
  const PoolOptions options{.mbufs = 63, .cache = 0, .zeroed = true};
  // Memory that was used before: each pool reuses memory of the one before it.
  for (int i = 0; i < 3; ++i) {
    const auto pool = Pool::create("clear", options);
    ASSERT_TRUE(pool) << pool.error();
    std::array<rte_mbuf*, 63> all;
    ASSERT_EQ(rte_pktmbuf_alloc_bulk(pool->get(), all.data(), all.size()), 0);
    for (rte_mbuf* m : all) {
      const auto* bytes = static_cast<const uint8_t*>(m->buf_addr);
      EXPECT_TRUE(std::all_of(bytes, bytes + m->buf_len, [](uint8_t b) { return b == 0; }));
      std::memset(m->buf_addr, 0xa5, m->buf_len);
    }
    rte_pktmbuf_free_bulk(all.data(), all.size());
  }
}

TEST(Pool, TakesTheMemoryThatItSays) {
  for (const uint16_t room : {uint16_t{2176}, Pool::room_for(9000)}) {
    constexpr uint32_t kCount = 1023;
    const auto pool = Pool::create("sized", {.mbufs = kCount, .data_room = room});
    ASSERT_TRUE(pool) << pool.error();
    size_t bytes = 0;
    const auto add = [](rte_mempool*, void* sum, rte_mempool_memhdr* chunk, unsigned) {
      *static_cast<size_t*>(sum) += chunk->len;
    };
    rte_mempool_mem_iter(pool->get(), add, &bytes);
    EXPECT_LE(bytes, Pool::memory(kCount, room) * 21 / 20);
    EXPECT_GE(bytes, Pool::memory(kCount, room) * 19 / 20);
  }
}

TEST(Pool, InItsOwnMemoryHoldsAllItsBuffersAndZeros) {
  constexpr uint16_t kRoom = 1024;
  auto pool =
      Pool::create("own", {.mbufs = 4095, .cache = 0, .data_room = kRoom, .own_memory = true});
  ASSERT_TRUE(pool) << pool.error();
  std::vector<rte_mbuf*> all;
  while (rte_mbuf* m = rte_pktmbuf_alloc(pool->get())) {
    const auto* data = static_cast<const uint8_t*>(m->buf_addr);
    ASSERT_TRUE(std::all_of(data, data + kRoom, [](uint8_t b) { return b == 0; }));
    all.push_back(m);
  }
  EXPECT_EQ(all.size(), 4095U);
  const auto [low, high] = std::ranges::minmax(all);
  EXPECT_LT(static_cast<size_t>(reinterpret_cast<char*>(high) - reinterpret_cast<char*>(low)),
            all.size() * 2048)
      << "two buffers share a page";
  for (rte_mbuf* m : all) rte_pktmbuf_free(m);
  EXPECT_EQ(pool->in_use(), 0U);
}

TEST(Pool, InItsOwnMemoryTakesMemoryForBuffersInUse) {
  // 64 GB, more than most machines have.
  auto pool = Pool::create("huge", {.mbufs = 32 << 20, .cache = 0, .own_memory = true});
  ASSERT_TRUE(pool) << pool.error();
  rte_mbuf* first = rte_pktmbuf_alloc(pool->get());
  rte_mbuf* second = rte_pktmbuf_alloc(pool->get());
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(pool->in_use(), 2U);
  EXPECT_EQ(rte_pktmbuf_headroom(second), RTE_PKTMBUF_HEADROOM);
  rte_pktmbuf_free(second);
  rte_pktmbuf_free(first);
  rte_mbuf* again = rte_pktmbuf_alloc(pool->get());
  EXPECT_EQ(again, first) << "the buffer that was freed last is in the cache";
  rte_pktmbuf_free(again);
  EXPECT_EQ(pool->in_use(), 0U);
}

TEST(Pool, SpreadsItsBuffersOverTheSetsOfTheFirstCache) {
  const auto pool = Pool::create("spread", {.mbufs = 63, .cache = 0});
  ASSERT_TRUE(pool) << pool.error();
  std::array<rte_mbuf*, 63> all;
  ASSERT_EQ(rte_pktmbuf_alloc_bulk(pool->get(), all.data(), all.size()), 0);
  std::set<uintptr_t> places;  // cache lines within a page of 4 KB
  for (const rte_mbuf* m : all) places.insert(reinterpret_cast<uintptr_t>(m) / 64 % 64);
  EXPECT_GE(places.size(), 16U) << "packets of a burst drive each other out";
  rte_pktmbuf_free_bulk(all.data(), all.size());
}

TEST(Pool, TooLargeIsAnErrorThatSaysWhatToDo) {
  const auto pool = Pool::create("huge", {.mbufs = 50'000'000});
  ASSERT_FALSE(pool);
  EXPECT_NE(pool.error().find("-m"), std::string::npos) << pool.error();
}

TEST(TestEal, BytesComeBackFromMbufsAndChains) {
  std::vector<uint8_t> bytes(5000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
  for (const size_t segment : {SIZE_MAX, size_t{100}, size_t{1}}) {
    const auto part = std::span(bytes).first(segment == 1 ? 40 : bytes.size());
    rte_mbuf* m = testing::make_mbuf(part, segment);
    EXPECT_EQ(testing::bytes_of(m), std::vector<uint8_t>(part.begin(), part.end()));
    EXPECT_EQ(m->pkt_len, part.size());
    rte_pktmbuf_free(m);
  }
}

}  // namespace
}  // namespace turnpike
