// SPDX-License-Identifier: BSD-3-Clause
// Removal events of a port, raised as its driver raises them.
#include "common/dpdk/removal_watch.h"

#include <optional>

#include <gtest/gtest.h>
#include <rte_ethdev.h>

#include "common/dpdk/port.h"
#include "tests/support/eal.h"

// Of the interface between drivers and ethdev, whose header is not installed.
extern "C" {
struct rte_eth_dev;
rte_eth_dev* rte_eth_dev_allocated(const char* name);
int rte_eth_dev_callback_process(rte_eth_dev* device, rte_eth_event_type event, void* result);
}

namespace turnpike {
namespace {

TEST(RemovalWatch, HearsItsDriver) {
  rte_mempool* pool = testing::test_pool().get();
  auto own = Port::open(other_device("net_ring8"), {}, {&pool, 1});
  auto other = Port::open(other_device("net_ring9"), {}, {&pool, 1});
  ASSERT_TRUE(own && other);
  rte_eth_dev* const device = rte_eth_dev_allocated("net_ring8");
  rte_eth_dev* const neighbour = rte_eth_dev_allocated("net_ring9");
  ASSERT_TRUE(device != nullptr && neighbour != nullptr);
  std::optional<RemovalWatch> watch(std::in_place, own->name(), own->id());
  rte_eth_dev_callback_process(neighbour, RTE_ETH_EVENT_INTR_RMV, nullptr);
  EXPECT_FALSE(watch->removed()) << "another port's";
  rte_eth_dev_callback_process(device, RTE_ETH_EVENT_INTR_LSC, nullptr);
  EXPECT_FALSE(watch->removed()) << "another event";
  rte_eth_dev_callback_process(device, RTE_ETH_EVENT_INTR_RMV, nullptr);
  EXPECT_TRUE(watch->removed());
  watch.emplace(own->name(), own->id());
  EXPECT_FALSE(watch->removed());
  watch.reset();
  rte_eth_dev_callback_process(device, RTE_ETH_EVENT_INTR_RMV,
                               nullptr);  // has no callback any more
}

}  // namespace
}  // namespace turnpike
