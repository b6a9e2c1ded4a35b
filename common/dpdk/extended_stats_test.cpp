// SPDX-License-Identifier: BSD-3-Clause
// Extended statistics of ring ports, whose packets and bytes a test knows.
#include "common/dpdk/extended_stats.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "common/dpdk/port.h"
#include "tests/support/eal.h"

namespace turnpike {
namespace {

tl::expected<Port, std::string> open_ring(const char* device, uint16_t queues) {
  rte_mempool* pool = testing::test_pool().get();
  return Port::open(other_device(device), {.queues = queues}, {&pool, 1});
}

std::map<std::string, uint64_t, std::less<>> values(const Port& port) {
  std::map<std::string, uint64_t, std::less<>> all;
  for (const ExtendedStat& s : port.extended_stats().read()) all.emplace(s.name, s.value);
  return all;
}

TEST(ExtendedStats, AreThoseOfEachQueueOfARing) {
  auto port = open_ring("net_ring5", 2);
  ASSERT_TRUE(port) << port.error();
  EXPECT_TRUE(values(*port).empty()) << "before the start";
  ASSERT_TRUE(port->start());
  const std::vector<uint8_t> frame(60);
  for (int i = 0; i < 3; ++i) {
    rte_mbuf* m = testing::make_mbuf(frame);
    ASSERT_EQ(port->queue(1).tx(0_ns, {&m, 1}), 1);  // the ring device loops back
  }
  std::array<rte_mbuf*, 8> out;
  ASSERT_EQ(port->queue(1).rx(0_ns, out), 3);
  rte_pktmbuf_free_bulk(out.data(), 3);

  const auto all = values(*port);
  EXPECT_EQ(all.at("tx_q1_packets"), 3U);
  EXPECT_EQ(all.at("rx_q1_packets"), 3U);
  EXPECT_EQ(all.at("rx_q0_packets"), 0U);
  for (const char* basic : {"rx_good_packets", "tx_good_bytes", "rx_missed_errors", "rx_errors",
                            "tx_errors", "rx_mbuf_allocation_errors"})
    EXPECT_FALSE(all.contains(basic)) << basic << " is in PortStats";
  EXPECT_EQ(port->stats().rx_packets, 3U);
  EXPECT_EQ(port->extended_stats().omitted(), 0U);
}

TEST(ExtendedStats, OfNoPortAreNone) {
  const ExtendedStats none(31);
  EXPECT_TRUE(none.read().empty());
  EXPECT_TRUE(ExtendedStats().read().empty());
}

TEST(ExtendedStats, SurviveAMoveOfThePort) {
  auto first = open_ring("net_ring6", 1);
  ASSERT_TRUE(first && first->start());
  const auto before = first->extended_stats().read();
  const Port second(std::move(*first));
  const auto after = second.extended_stats().read();
  ASSERT_EQ(after.size(), before.size());
  ASSERT_FALSE(after.empty());
  EXPECT_EQ(after.front().name, before.front().name);
}

}  // namespace
}  // namespace turnpike
