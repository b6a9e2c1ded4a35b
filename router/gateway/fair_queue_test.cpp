// SPDX-License-Identifier: BSD-3-Clause
#include "router/gateway/fair_queue.h"

#include <array>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rte_mbuf.h>

#include "common/wire/bytes.h"
#include "tests/support/eal.h"

namespace turnpike::gateway {
namespace {

constexpr CodelParams kPatient{.target = 1_s, .interval = 10_s};
constexpr uint64_t kRoom = 1'000'000'000;

class FairQueueTest : public ::testing::Test {
 protected:
  /// An IPv4 datagram of `size` B with an ECN field.
  rte_mbuf* datagram(uint32_t size, uint8_t ecn = 0) {
    rte_mbuf* m = rte_pktmbuf_alloc(testing::test_pool().get());
    auto* ip = reinterpret_cast<uint8_t*>(rte_pktmbuf_append(m, static_cast<uint16_t>(size)));
    ip[0] = 0x45;
    ip[1] = ecn;
    return m;
  }
  /// Bytes by flow of the next `packets` packets, of which the queue holds enough.
  std::map<uint16_t, uint64_t> serve(FairQueue& queue, unsigned packets) {
    std::map<uint16_t, uint64_t> bytes;
    for (unsigned n = 0; n < packets; ++n) {
      rte_mbuf* m = queue.take(kPatient, Nanos(0));
      bytes[m->vlan_tci] += m->pkt_len;
      rte_pktmbuf_free(m);
    }
    return bytes;
  }
  void put(FairQueue& queue, uint32_t host, uint16_t flow, uint32_t size, uint64_t limit = kRoom) {
    rte_mbuf* m = datagram(size);
    m->vlan_tci = flow;
    queue.put(m, host, flow, limit, Nanos(0));
  }
  void drain(FairQueue& queue) {
    while (rte_mbuf* m = queue.take(kPatient, Nanos(0))) rte_pktmbuf_free(m);
  }

  QueuePool queues{4096};
};

TEST_F(FairQueueTest, SharesBetweenFlowsByBytes) {
  FairQueue queue(queues, 0);
  for (unsigned n = 0; n < 600; ++n) {
    put(queue, 1, 1, 1500);
    put(queue, 1, 2, 300);
    put(queue, 1, 2, 300);
  }
  const auto bytes = serve(queue, 900);
  EXPECT_NEAR(static_cast<double>(bytes.at(1)), static_cast<double>(bytes.at(2)), 2 * 1514);
  drain(queue);
}

TEST_F(FairQueueTest, SharesBetweenHostsWhateverTheirNumberOfFlows) {
  FairQueue queue(queues, 0);
  for (unsigned n = 0; n < 40; ++n) {
    for (unsigned k = 0; k < 32; ++k) put(queue, 1, 100, 1000);
    for (uint16_t flow = 0; flow < 32; ++flow) put(queue, 2, flow, 1000);
  }
  const auto bytes = serve(queue, 1280);
  uint64_t many = 0;
  for (uint16_t flow = 0; flow < 32; ++flow) many += bytes.at(flow);
  EXPECT_NEAR(static_cast<double>(bytes.at(100)), static_cast<double>(many), 2 * 1514);
  drain(queue);
}

TEST_F(FairQueueTest, ASparseFlowOvertakes) {
  FairQueue queue(queues, 0);
  for (unsigned n = 0; n < 100; ++n) put(queue, 1, 1, 1500);
  serve(queue, 10);
  put(queue, 2, 2, 100);
  EXPECT_EQ(serve(queue, 1).count(2), 1U);
  put(queue, 1, 3, 100);  // another flow of the busy host
  EXPECT_EQ(serve(queue, 2).count(3), 1U);
  drain(queue);
}

// A small packet for every three of thirty others: a flow, or a host, below its share waits for no
// round.
TEST_F(FairQueueTest, BelowTheShareLeavesNext) {
  for (const bool hosts : {false, true}) {
    FairQueue queue(queues, 0);
    const auto arrive = [&](uint16_t k, uint32_t size) { put(queue, hosts ? k : 1, k, size); };
    for (unsigned n = 0; n < 40; ++n)
      for (uint16_t k = 0; k < 30; ++k) arrive(k, 1500);
    serve(queue, 60);  // none is new any more
    for (unsigned n = 0; n < 300; ++n) {
      arrive(77, 100);
      EXPECT_EQ(serve(queue, 1).count(77), 1U) << n << (hosts ? ", hosts" : ", flows");
      serve(queue, 3);
    }
    drain(queue);
  }
}

// One that always comes back gets its share and no more.
TEST_F(FairQueueTest, ComingBackGainsNothing) {
  FairQueue queue(queues, 0);
  for (unsigned n = 0; n < 60; ++n)
    for (uint16_t flow = 0; flow < 30; ++flow) put(queue, 1, flow, 1500);
  std::map<uint16_t, uint64_t> bytes;
  bool waits = false;
  for (unsigned n = 0; n < 1500; ++n) {
    if (!waits) put(queue, 1, 77, 700);
    const auto served = serve(queue, 1);
    waits = served.count(77) == 0;
    for (const auto& [flow, size] : served) bytes[flow] += size;
  }
  EXPECT_LE(bytes.at(77), bytes.at(1) + 2 * 1514);
  EXPECT_GE(bytes.at(77) + 2 * 1514, bytes.at(1));
  drain(queue);
}

TEST_F(FairQueueTest, SmallPacketsOfFlowsBelowTheirShareAreUrgentWhileTheyWait) {
  FairQueue queue(queues, 0);
  for (unsigned n = 0; n < 40; ++n) {
    put(queue, 1, 1, 1500);
    put(queue, 1, 2, 400);
  }
  EXPECT_EQ(queue.urgent(), 1U) << "flow 2's first: small, and nothing of the flow waited";
  serve(queue, 20);
  EXPECT_EQ(queue.urgent(), 0U);
  put(queue, 1, 3, 100);
  EXPECT_EQ(queue.urgent(), 1U);
  put(queue, 1, 3, 100);  // behind the first
  put(queue, 1, 4, 513);  // large
  EXPECT_EQ(queue.urgent(), 1U);
  serve(queue, 1);
  EXPECT_EQ(queue.urgent(), 0U);
  // One that always comes back is urgent within its share only.
  uint64_t early = 0, others = 0;
  for (unsigned n = 0; n < 200; ++n) {
    const uint32_t before = queue.urgent();
    put(queue, 1, 5, 500);
    early += queue.urgent() > before ? 500 : 0;
    others += serve(queue, 1)[1];
    put(queue, 1, 1, 1500);
  }
  EXPECT_GT(early, 0U);
  EXPECT_LE(early, others + 2 * 1514);
  drain(queue);
  EXPECT_EQ(queue.urgent(), 0U);
}

TEST_F(FairQueueTest, OfFlowsBelowTheirShareThoseWithASmallPacketGoFirst) {
  FairQueue queue(queues, 0);
  for (uint16_t flow = 1; flow <= 5; ++flow) put(queue, 1, flow, 1500);
  put(queue, 1, 6, 60);
  EXPECT_EQ(serve(queue, 1).count(6), 1U);
  drain(queue);
}

TEST_F(FairQueueTest, APacketThatDoesNotFitStays) {
  FairQueue queue(queues, 0);
  for (uint16_t flow = 1; flow <= 3; ++flow) put(queue, 1, flow, 1500);
  rte_mbuf* marked = datagram(100, 1);
  marked->vlan_tci = 4;
  queue.put(marked, 2, 4, kRoom, Nanos(0));
  EXPECT_EQ(queue.take(kPatient, Nanos(0), {.size = 99}), nullptr);
  EXPECT_EQ(queue.take(kPatient, Nanos(0), {.size = 100, .ecn = 2}), nullptr);
  EXPECT_EQ(queue.packets(), 4U);
  rte_mbuf* m = queue.take(kPatient, Nanos(0), {.size = 100, .ecn = 1});
  EXPECT_EQ(m, marked);
  rte_pktmbuf_free(m);
  EXPECT_EQ(queue.take(kPatient, Nanos(0), {.size = 1000}), nullptr);
  const auto left = serve(queue, 3);
  EXPECT_EQ(left.size(), 3U) << "no flow has lost its packet or its turn";
  EXPECT_EQ(queue.take(kPatient, Nanos(0)), nullptr);
}

TEST_F(FairQueueTest, APacketThatComesWhileNothingWaitsHasItsPlaceWhenASecondOneComes) {
  FairQueue queue(queues, 0);
  for (uint16_t n = 0; n < 3; ++n) {
    put(queue, n, n, 100);
    EXPECT_EQ(queue.packets(), 1U);
    EXPECT_EQ(queue.bytes(), 100U);
    EXPECT_EQ(queue.small(), 1U);
    EXPECT_EQ(queue.urgent(), 1U);
    EXPECT_EQ(queue.take(kPatient, Nanos(0), {.size = 99}), nullptr) << "does not fit";
    EXPECT_EQ(serve(queue, 1).at(n), 100U);
    EXPECT_TRUE(queue.idle());
    EXPECT_EQ(queues.flows.in_use() + queues.hosts.in_use(), 0U);
  }
  put(queue, 1, 1, 1500);
  EXPECT_EQ(queue.urgent(), 0U);
  put(queue, 2, 2, 1500);
  put(queue, 1, 1, 200);  // behind the first one
  put(queue, 3, 3, 100);  // small, of another host: goes first
  EXPECT_EQ(queues.hosts.in_use(), 3U);
  EXPECT_EQ(queue.small(), 2U);
  EXPECT_EQ(queue.urgent(), 1U);
  EXPECT_EQ(serve(queue, 1).count(3), 1U);
  EXPECT_EQ(serve(queue, 1).at(1), 1500U) << "has kept its place before the second one";
  EXPECT_EQ(serve(queue, 2).size(), 2U);
  drain(queue);
  EXPECT_TRUE(queue.idle());
  EXPECT_EQ(queues.flows.in_use() + queues.hosts.in_use(), 0U);
}

TEST_F(FairQueueTest, APacketLargerThanTheLimitIsDropped) {
  FairQueue queue(queues, 0);
  put(queue, 1, 1, 1000, 999);
  EXPECT_EQ(queue.dropped(), 1U);
  EXPECT_TRUE(queue.idle());
  EXPECT_EQ(queues.free.size(), 4096U);
}

// A flow's first packet shares no queue with another flow, whose queue CoDel keeps short.
TEST_F(FairQueueTest, NoTwoFlowsShareAQueue) {
  FairQueue queue(queues, 0);
  for (unsigned n = 0; n < 10; ++n) queue.put(datagram(1000), 1, 5, kRoom, Nanos(0));
  for (uint32_t bit = 0; bit < 32; ++bit) {
    rte_mbuf* m = datagram(60);
    m->vlan_tci = 77;
    queue.put(m, 1, 5 ^ 1U << bit, kRoom, Nanos(0));
  }
  EXPECT_EQ(serve(queue, 2 + 32).at(77), 32U * 60);  // behind a quantum of the first flow
  drain(queue);
}

// Flows of one packet each, more than leave: those that are idle give their entries back.
TEST_F(FairQueueTest, AFloodOfFlowsLeavesEntriesToOtherTunnels) {
  FairQueue flooded(queues, 0), other(queues, 1);
  uint32_t flow = 0;
  for (unsigned n = 0; n < 20'000; ++n) {
    for (unsigned k = 0; k < 2; ++k, ++flow) flooded.put(datagram(60), flow, flow, kRoom, Nanos(0));
    rte_pktmbuf_free(flooded.take(kPatient, Nanos(0)));
  }
  EXPECT_LE(queues.flows.in_use(), 4096U + flooded.packets());
  for (uint16_t n = 0; n < 1000; ++n) put(other, n, n, 100);
  EXPECT_EQ(other.packets(), 1000U);
  EXPECT_EQ(other.dropped(), 0U);
  drain(flooded);
  drain(other);
}

// Two large packets in a row from each flow, so that it has spent its quantum when it falls idle;
// below and beyond the limit.
TEST_F(FairQueueTest, FlowsThatEndWithoutAQuantumLeaveEntriesToOtherTunnels) {
  for (const bool hosts : {false, true})
    for (const uint64_t limit : {uint64_t{200'000}, kRoom}) {
      FairQueue flooded(queues, 0), other(queues, 1);
      for (uint32_t flow = 0; flow < 30'000; ++flow) {
        for (unsigned k = 0; k < 2; ++k)
          flooded.put(datagram(800), hosts ? flow : 7, flow, limit, Nanos(0));
        const unsigned rate = limit == kRoom && flooded.packets() > 500 ? 2 : 1;
        for (unsigned k = 0; k < rate; ++k)
          if (rte_mbuf* m = flooded.take(kPatient, Nanos(0))) rte_pktmbuf_free(m);
        ASSERT_LE(flooded.bytes(), limit);
        ASSERT_LE(queues.flows.in_use(), 2 * 4096U - 1000) << flow;
        ASSERT_LE(queues.hosts.in_use(), 2 * 4096U - 1000) << flow;
      }
      for (uint16_t n = 0; n < 1000; ++n) put(other, n, n, 100);
      EXPECT_EQ(other.dropped(), 0U);
      drain(flooded);
      drain(other);
      EXPECT_EQ(queues.flows.in_use() + queues.hosts.in_use(), 0U);
    }
}

// Large packets into a queue that is full of small ones.
TEST_F(FairQueueTest, TheLimitBoundsTheBytesWhateverTheSizes) {
  FairQueue queue(queues, 0);
  for (unsigned n = 0; n < 1900; ++n) put(queue, 1, 1, 50, 100'000);
  for (uint16_t flow = 2; flow < 500; ++flow) {
    put(queue, 2, flow, 1400, 100'000);
    ASSERT_LE(queue.bytes(), 100'000U);
  }
  drain(queue);
}

// The queue is beyond its limit, its fullest flow is empty, and there is no entry for a new one.
TEST_F(FairQueueTest, NoEntryForANewFlowDropsItsPacketAndOnesThatWait) {
  for (const unsigned visits : {0, 8}) {  // of the queue after its fullest flow's last packet
    QueuePool queues{4096};
    FairQueue queue(queues, 0);
    for (unsigned n = 0; n < 30; ++n) put(queue, 1, 1, 1000);
    for (unsigned n = 0; n < 3; ++n)
      for (uint16_t flow = 2; flow < 50; ++flow) put(queue, 2, flow, 1000);
    for (size_t left = 30; left > 0;) left -= serve(queue, 1).count(1);
    serve(queue, visits);
    ASSERT_GT(queue.packets(), 20U);
    bool made = false;
    while (queues.flows.find(1'000'000, static_cast<uint32_t>(queues.flows.in_use()), made) !=
           kNone) {
    }
    const uint32_t before = queue.packets();
    put(queue, 3, 999, 100, 15'000);
    EXPECT_LT(queue.packets(), before);
    EXPECT_LE(queue.bytes(), 15'000U);
    drain(queue);
  }
}

TEST_F(FairQueueTest, BeyondTheLimitTheFullestFlowLoses) {
  FairQueue queue(queues, 0);
  constexpr uint64_t kLimit = 20'000;
  for (unsigned n = 0; n < 100; ++n) {
    put(queue, 1, 1, 1000, kLimit);
    if (n % 10 == 0) put(queue, 2, 2, 100, kLimit);
  }
  EXPECT_LE(queue.bytes(), kLimit);
  uint64_t sparse = 0;
  while (rte_mbuf* m = queue.take(kPatient, Nanos(0))) {
    sparse += m->vlan_tci == 2 ? 1 : 0;
    rte_pktmbuf_free(m);
  }
  EXPECT_EQ(sparse, 10U);
  EXPECT_EQ(queue.bytes(), 0U);
}

TEST_F(FairQueueTest, OneTunnelLeavesRoomForOthers) {
  FairQueue greedy(queues, 0), other(queues, 1);
  for (unsigned n = 0; n < 4096; ++n) put(greedy, n, static_cast<uint16_t>(n), 100);
  EXPECT_EQ(greedy.packets(), 2048U);
  for (unsigned n = 0; n < 1000; ++n) put(other, 1, 1, 100);
  EXPECT_EQ(other.packets(), 1000U);
  drain(greedy);
  drain(other);
}

/// A queue that stands above the target for an interval: CoDel marks who knows ECN, drops others.
TEST_F(FairQueueTest, CodelSignalsAStandingQueue) {
  const CodelParams codel{.target = 5_ms, .interval = 100_ms};
  for (const uint8_t ecn : {0, 2}) {
    FairQueue queue(queues, ecn);
    Nanos now{0};
    unsigned marked = 0;
    for (unsigned n = 0; n < 2000; ++n, now += 1_ms) {
      // Twenty packets wait all the time, so each waits for 20 ms.
      while (queue.packets() < 20) queue.put(datagram(1000, ecn), 1, 1, kRoom, now);
      rte_mbuf* m = queue.take(codel, now);
      marked += (*rte_pktmbuf_mtod(m, uint8_t*) == 0x45 && rte_pktmbuf_mtod(m, uint8_t*)[1] == 3);
      rte_pktmbuf_free(m);
      if (now < 100_ms) {
        EXPECT_EQ(queue.dropped() + marked, 0U);
      }
    }
    // RFC 8289: intervals of 100 ms / sqrt(n); the sum of the first n is 1.9 s for n of about 100.
    const uint64_t signals = ecn == 0 ? queue.dropped() : marked;
    EXPECT_NEAR(static_cast<double>(signals), 100, 10);
    EXPECT_EQ(ecn == 0 ? marked : queue.dropped(), 0U);
    drain(queue);
  }
}

TEST_F(FairQueueTest, CodelLeavesAShortQueueAlone) {
  const CodelParams codel{.target = 5_ms, .interval = 100_ms};
  FairQueue queue(queues, 0);
  Nanos now{0};
  for (unsigned n = 0; n < 2000; ++n, now += 1_ms) {
    while (queue.packets() < 4) queue.put(datagram(1000), 1, 1, kRoom, now);
    rte_pktmbuf_free(queue.take(codel, now));
  }
  EXPECT_EQ(queue.dropped(), 0U);
  drain(queue);
}

/// Any sequence of operations: packets of a flow leave in order, none vanishes without a count.
TEST_F(FairQueueTest, KeepsOrderAndCounts) {
  rc::check([&] {
    FairQueue queue(queues, 7);
    std::map<uint16_t, uint32_t> next_in, next_out;
    uint64_t in = 0, out = 0;
    const auto take = [&] {
      rte_mbuf* m = queue.take(kPatient, Nanos(0));
      if (m == nullptr) return RC_ASSERT(queue.packets() == 0);
      ++out;
      RC_ASSERT(m->hash.rss >= next_out[m->vlan_tci]);
      next_out[m->vlan_tci] = m->hash.rss + 1;
      rte_pktmbuf_free(m);
    };
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 64));
    for (const int step : steps) {
      if (step % 3 == 0) {
        take();
        continue;
      }
      const auto flow = static_cast<uint16_t>(step % 8);
      rte_mbuf* m = datagram(static_cast<uint32_t>(60 + step * 20));
      m->vlan_tci = flow;
      m->hash.rss = next_in[flow]++;
      ++in;
      queue.put(m, flow % 2, flow, 10'000, Nanos(0));
    }
    while (queue.packets() > 0) take();
    RC_ASSERT(in == out + queue.dropped());
    RC_ASSERT(queue.bytes() == 0);
    RC_ASSERT(queue.small() == 0);
    RC_ASSERT(queue.take(kPatient, Nanos(0)) == nullptr);
  });
  EXPECT_EQ(queues.flows.in_use(), 0U);
  EXPECT_EQ(queues.hosts.in_use(), 0U);
  EXPECT_EQ(queues.free.size(), 4096U);
}

}  // namespace
}  // namespace turnpike::gateway
