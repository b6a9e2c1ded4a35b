// SPDX-License-Identifier: BSD-3-Clause
// Pause frames by the names that drivers' sources have, and a driver without flow control.
#include "common/dpdk/flow_control.h"

#include <gtest/gtest.h>

#include "common/dpdk/port.h"
#include "tests/support/eal.h"

namespace turnpike {
namespace {

using Stats = std::vector<ExtendedStat>;

TEST(PauseFrames, AreTheSumOfXonAndXoff) {
  // drivers/net/e1000/igb_ethdev.c rte_igb_stats_strings[], the same names in igc, i40e and ice
  const Stats igb{{"rx_length_errors", 100}, {"rx_xon_packets", 1},
                  {"tx_xon_packets", 2},     {"rx_xoff_packets", 30},
                  {"tx_xoff_packets", 40},   {"rx_flow_control_unsupported_packets", 500}};
  EXPECT_EQ(pause_frames(igb).received, 31U);
  EXPECT_EQ(pause_frames(igb).sent, 42U);
}

TEST(PauseFrames, CountOnceWhereADriverHasTwoNames) {
  // drivers/net/ixgbe/ixgbe_ethdev.c rte_ixgbe_stats_strings[]: the same counters again
  const Stats ixgbe{{"tx_xon_packets", 2},
                    {"rx_xon_packets", 1},
                    {"tx_xoff_packets", 40},
                    {"rx_xoff_packets", 30},
                    {"tx_flow_control_xon_packets", 2},
                    {"rx_flow_control_xon_packets", 1},
                    {"tx_flow_control_xoff_packets", 40},
                    {"rx_flow_control_xoff_packets", 30}};
  EXPECT_EQ(pause_frames(ixgbe).received, 31U);
  EXPECT_EQ(pause_frames(ixgbe).sent, 42U);
}

TEST(PauseFrames, HaveOtherNamesInOtherDrivers) {
  struct Row {
    const char* source;  // below drivers of DPDK
    Stats stats;
  };
  for (const Row& row : std::vector<Row>{
           {"net/txgbe/txgbe_ethdev.c",
            {{"rx_flow_control_xon_packets", 3},
             {"rx_flow_control_xoff_packets", 4},
             {"tx_flow_control_xon_packets", 5},
             {"tx_flow_control_xoff_packets", 6}}},
           {"net/bnxt/bnxt_stats.c", {{"rx_pause_frames", 7}, {"tx_pause_frames", 11}}},
           {"net/cxgbe/cxgbe_ethdev.c", {{"rx_pause_packets", 7}, {"tx_pause_frames", 11}}},
           {"net/hns3/hns3_stats.c", {{"mac_rx_mac_pause_num", 7}, {"mac_tx_mac_pause_num", 11}}},
           {"common/sfc_efx/base/efx_mac.c", {{"rx_pause_pkts", 7}, {"tx_pause_pkts", 11}}}}) {
    EXPECT_EQ(pause_frames(row.stats).received, 7U) << row.source;
    EXPECT_EQ(pause_frames(row.stats).sent, 11U) << row.source;
  }
}

TEST(PauseFrames, AreUnknownWhereADriverDoesNotCountThem) {
  // drivers/net/mlx5/linux/mlx5_ethdev_os.c mlx5_counters_init[]
  const Stats mlx5{{"rx_phy_crc_errors", 1}, {"rx_out_of_buffer", 2}, {"tx_phy_errors", 3}};
  EXPECT_FALSE(pause_frames(mlx5).received);
  EXPECT_FALSE(pause_frames(mlx5).sent);
  EXPECT_FALSE(pause_frames({}).received);
  const Stats half{{"rx_xon_packets", 1}, {"tx_xon_packets", 1}, {"tx_xoff_packets", 1}};
  EXPECT_FALSE(pause_frames(half).received) << "a part of the frames is no number of frames";
  EXPECT_EQ(pause_frames(half).sent, 2U);
}

TEST(FlowControl, HasTheWordsOfTheFile) {
  EXPECT_EQ(name_of(FlowControl::kOff), "off");
  EXPECT_EQ(name_of(FlowControl::kRx), "rx");
  EXPECT_EQ(name_of(FlowControl::kTx), "tx");
  EXPECT_EQ(name_of(FlowControl::kOn), "on");
}

TEST(FlowControl, OfADriverWithoutItCannotBeSet) {
  Device device = other_device("net_ring7");
  rte_mempool* pool = testing::test_pool().get();
  {
    auto port = Port::open(device, {}, {&pool, 1});
    ASSERT_TRUE(port && port->start());
    EXPECT_FALSE(port->flow_control());
  }
  for (const FlowControl mode : {FlowControl::kOff, FlowControl::kOn}) {
    device.flow_control = mode;
    auto port = Port::open(device, {}, {&pool, 1});
    ASSERT_TRUE(port);
    for (int i = 0; i < 2; ++i) {
      const auto started = port->start();
      ASSERT_FALSE(started) << "a second start sets it as well";
      EXPECT_EQ(started.error(),
                "net_ring7: its driver net_ring cannot set flow control to " +
                    std::string(name_of(mode)) +
                    " (Operation not supported): remove flow_control of this NIC, which leaves it "
                    "as its driver does, or use a NIC whose driver can set it (docs/nics.md)");
    }
  }
}

}  // namespace
}  // namespace turnpike
