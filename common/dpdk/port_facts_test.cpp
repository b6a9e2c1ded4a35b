// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/port_facts.h"

#include <gtest/gtest.h>

#include "tests/support/eal.h"

namespace turnpike {
namespace {

TEST(PortFacts, OfAVirtualDevice) {
  rte_mempool* const pool = testing::test_pool().get();
  auto port = Port::open(other_device("net_ring7"),
                         {.queues = 1, .rx_descriptors = 256, .tx_descriptors = 512}, {&pool, 1});
  ASSERT_TRUE(port) << port.error();
  ASSERT_TRUE(port->start());
  const PortFacts f = read_port_facts(*port);
  EXPECT_EQ(f.device, "net_ring7");
  EXPECT_EQ(f.driver, "net_ring");
  EXPECT_EQ(f.queues, 1);
  EXPECT_EQ(f.rx_descriptors, 256);
  EXPECT_EQ(f.tx_descriptors, 512);
  EXPECT_EQ(f.mtu, 1500);
  EXPECT_NE(f.offloads.find("rx: "), std::string::npos);
  EXPECT_FALSE(f.pci);
  EXPECT_TRUE(port_warnings(f).empty());
  port->stop();
  EXPECT_EQ(read_port_facts(*port).link_mbps, 0U) << "its link is down";
}

TEST(PortFacts, WarnsOfASlotThatIsSlowerThanTheLink) {
  PortFacts f{.device = "0000:3b:00.0", .pci = PciFacts{.address = "0000:3b:00.0"}};
  f.link_mbps = 100'000;
  EXPECT_TRUE(port_warnings(f).empty()) << "nothing is known of the slot";
  f.pci->link = f.pci->max_link = {.gts = 8, .width = 16};
  EXPECT_TRUE(port_warnings(f).empty());
  f.pci->link = f.pci->max_link = {.gts = 8, .width = 8};
  ASSERT_EQ(port_warnings(f).size(), 1U);
  EXPECT_NE(port_warnings(f)[0].find("x8 at 8 GT/s, 63 Gbps"), std::string::npos);
  f.pci->max_link.width = 16;
  EXPECT_EQ(port_warnings(f).size(), 2U) << "the slot is narrower than the device, too";
  f.link_mbps = 10'000;
  EXPECT_EQ(port_warnings(f).size(), 1U);
}

}  // namespace
}  // namespace turnpike
