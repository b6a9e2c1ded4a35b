// SPDX-License-Identifier: BSD-3-Clause
// Decisions for a table of drivers, with the capabilities that the sources of DPDK 22.11 to 26.07
// state.
#include "common/dpdk/offloads.h"

#include <gtest/gtest.h>
#include <rte_ethdev.h>

namespace turnpike {
namespace {

constexpr uint64_t kRxSums =
    RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
constexpr uint64_t kTxSums =
    RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
constexpr uint64_t kVlanRx = RTE_ETH_RX_OFFLOAD_VLAN_STRIP | RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
constexpr uint64_t kVlanTx = RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
constexpr uint64_t kScatter = RTE_ETH_RX_OFFLOAD_SCATTER;
constexpr uint64_t kHash = RTE_ETH_RX_OFFLOAD_RSS_HASH;
constexpr uint64_t kChains = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
constexpr uint64_t kFastFree = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
constexpr uint64_t kTcp = RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV6_TCP;
constexpr uint64_t kUdp = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP;
constexpr uint64_t kIp = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6;
constexpr uint64_t kOther = RTE_ETH_RSS_NONFRAG_IPV4_OTHER | RTE_ETH_RSS_NONFRAG_IPV6_OTHER |
                            RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_FRAG_IPV6;

struct Row {
  const char* driver;
  const char* source;  // below drivers/net of DPDK; since 25.03 Intel's are in drivers/net/intel
  PortCapabilities offered;
  bool checks_ip;     // finds IPv4 header checksums right or wrong
  bool fast_free;     // frees buffers of one pool faster
  const char* warns;  // of the packets that two queues do not share; "": none
};

const Row kDrivers[] = {
    {.driver = "mlx5",
     .source =
         "mlx5/mlx5_rxq.c mlx5_get_rx_queue_offloads(), mlx5_txq.c mlx5_get_tx_port_offloads()",
     .offered = {kRxSums | kHash | kVlanRx | kScatter | RTE_ETH_RX_OFFLOAD_TIMESTAMP,
                 kTxSums | kVlanTx | kChains | kFastFree, kIp | kOther | kUdp | kTcp, 40, 512},
     .checks_ip = true,
     .fast_free = true,
     .warns = ""},
    {.driver = "ice",
     .source = "ice/ice_ethdev.c ice_dev_info_get(), ice_ethdev.h ICE_RSS_OFFLOAD_ALL",
     .offered = {kRxSums | kHash | kVlanRx | kScatter | RTE_ETH_RX_OFFLOAD_TIMESTAMP,
                 kTxSums | kVlanTx | kChains | kFastFree, kIp | kOther | kUdp | kTcp, 52, 512},
     .checks_ip = true,
     .fast_free = true,
     .warns = ""},
    {.driver = "i40e",
     .source = "i40e/i40e_ethdev.c i40e_dev_info_get(), i40e_ethdev.h I40E_RSS_OFFLOAD_ALL",
     .offered = {kRxSums | kHash | kVlanRx | kScatter, kTxSums | kVlanTx | kChains | kFastFree,
                 kOther | kUdp | kTcp, 52, 512},
     .checks_ip = true,
     .fast_free = true,
     .warns = ""},
    {.driver = "ixgbe",
     .source = "ixgbe/ixgbe_rxtx.c ixgbe_get_rx_port_offloads(), ixgbe_get_tx_port_offloads()",
     .offered = {kRxSums | kHash | RTE_ETH_RX_OFFLOAD_VLAN_FILTER | kScatter,
                 kTxSums | kVlanTx | kChains, kIp | kUdp | kTcp, 40, 128},
     .checks_ip = true,
     .fast_free = false,
     .warns = ""},
    {.driver = "igb",
     .source =
         "e1000/igb_rxtx.c igb_get_rx_port_offloads_capa(), e1000_ethdev.h IGB_RSS_OFFLOAD_ALL",
     .offered = {kRxSums | kHash | kVlanRx | kScatter, kTxSums | kVlanTx | kChains,
                 kIp | kUdp | kTcp, 40, 128},
     .checks_ip = true,
     .fast_free = false,
     .warns = ""},
    {.driver = "e1000e",
     .source = "e1000/em_rxtx.c em_get_rx_port_offloads_capa(), em_ethdev.c eth_em_infos_get()",
     .offered = {kRxSums | kVlanRx | kScatter, kTxSums | kVlanTx | kChains, 0},
     .checks_ip = true,
     .fast_free = false,
     .warns = "any packets"},
    {.driver = "ena",
     .source = "ena/ena_ethdev.c ena_get_rx_port_offloads(), ena_ethdev.h ENA_ALL_RSS_HF",
     .offered = {kRxSums | kHash | kScatter, kTxSums | kChains | kFastFree, kUdp | kTcp, 40, 128},
     .checks_ip = true,
     .fast_free = true,
     .warns = ""},
    {.driver = "virtio",
     .source = "virtio/virtio_ethdev.c virtio_dev_info_get(), without VIRTIO_NET_F_RSS",
     .offered = {RTE_ETH_RX_OFFLOAD_UDP_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM | kVlanRx | kScatter,
                 RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM | kVlanTx | kChains,
                 0},
     .checks_ip = false,
     .fast_free = false,
     .warns = "any packets"},
    {.driver = "virtio with RSS",
     .source = "virtio/virtio_ethdev.c virtio_dev_info_get(), with VIRTIO_NET_F_RSS",
     .offered = {RTE_ETH_RX_OFFLOAD_UDP_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM | kVlanRx | kScatter,
                 RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM | kVlanTx | kChains,
                 kIp | kUdp | kTcp, 40, 128},
     .checks_ip = false,
     .fast_free = false,
     .warns = ""},
    {.driver = "vmxnet3",
     .source = "vmxnet3/vmxnet3_ethdev.c VMXNET3_RX_OFFLOAD_CAP, .h VMXNET3_RSS_OFFLOAD_ALL",
     .offered = {RTE_ETH_RX_OFFLOAD_UDP_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM | kVlanRx | kScatter |
                     RTE_ETH_RX_OFFLOAD_TCP_LRO,
                 RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM | kVlanTx | kChains,
                 kIp | kTcp},
     .checks_ip = false,
     .fast_free = false,
     .warns = "UDP packets between the same two hosts"},
};

/// A router whose packets are single segments of one pool.
constexpr PortUse kRouter{
    .queues = 1, .frame = 1522, .buffer = 2048, .ip_verdicts = true, .chains = false};

PortUse with(PortUse use, void (*change)(PortUse&)) {
  change(use);
  return use;
}

TEST(Offloads, ARouterHasIpVerdictsAndSingleSegments) {
  for (const Row& row : kDrivers) {
    const Offloads on = choose_offloads(row.offered, kRouter);
    EXPECT_EQ(on.rx, row.checks_ip ? uint64_t{RTE_ETH_RX_OFFLOAD_IPV4_CKSUM} : 0) << row.driver;
    EXPECT_EQ(on.tx, row.fast_free ? kFastFree : 0) << row.driver;
    EXPECT_EQ(on.rss, 0U) << row.driver;
    EXPECT_EQ(on.spread_warning, "") << row.driver;
  }
}

TEST(Offloads, PacketsOfSeveralSegmentsExcludeFastFree) {
  const PortUse use = with(kRouter, [](PortUse& u) { u.chains = true; });
  for (const Row& row : kDrivers)
    EXPECT_EQ(choose_offloads(row.offered, use).tx, kChains) << row.driver;
}

TEST(Offloads, FramesBeyondABufferAreScattered) {
  const PortUse use = with(kRouter, [](PortUse& u) { u.frame = 9018; });
  for (const Row& row : kDrivers)
    EXPECT_NE(choose_offloads(row.offered, use).rx & kScatter, 0U) << row.driver;
}

TEST(Offloads, UnfinishedChecksumsOfParavirtualDevicesAreNotAskedFor) {
  const PortUse host = with(kRouter, [](PortUse& u) { u.udp_verdicts = true; });
  for (const Row& row : kDrivers) {
    const uint64_t sums = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
    EXPECT_EQ(choose_offloads(row.offered, host).rx, row.checks_ip ? sums : 0) << row.driver;
  }
}

TEST(Offloads, AWarningNamesThePacketsThatDoNotSpread) {
  const PortUse two = with(kRouter, [](PortUse& u) { u.queues = 2; });
  for (const Row& row : kDrivers) {
    const std::string warning = choose_offloads(row.offered, two).spread_warning;
    if (*row.warns == 0) {
      EXPECT_EQ(warning, "") << row.driver;
    } else {
      EXPECT_NE(warning.find(std::string("does not spread ") + row.warns), std::string::npos)
          << row.driver << warning;
    }
  }
  const PortCapabilities only4{.rss = RTE_ETH_RSS_IPV4 | kUdp};
  EXPECT_EQ(choose_offloads(only4, two).spread_warning, "");
  EXPECT_NE(choose_offloads({.rss = RTE_ETH_RSS_IPV4}, two).spread_warning.find("spread IPv6"),
            std::string::npos);
  EXPECT_NE(choose_offloads({.rss = RTE_ETH_RSS_IPV6}, two).spread_warning.find("spread IPv4"),
            std::string::npos);
}

TEST(Offloads, TheKeyIsAsLongAsTheDriverTakes) {
  const PortUse two = with(kRouter, [](PortUse& u) { u.queues = 2; });
  for (const Row& row : kDrivers) {
    EXPECT_EQ(choose_offloads(row.offered, two).rss_key.size(), row.offered.hash_key_size)
        << row.driver;
    EXPECT_TRUE(choose_offloads(row.offered, kRouter).rss_key.empty()) << row.driver;
  }
}

TEST(Offloads, BucketsMoveWherePacketsCarryTheirHash) {
  const PortUse two = with(kRouter, [](PortUse& u) { u.queues = 2; });
  const PortUse moves = with(two, [](PortUse& u) { u.moves_buckets = true; });
  for (const Row& row : kDrivers) {
    const bool hash = (row.offered.rx & kHash) != 0;
    const Offloads on = choose_offloads(row.offered, moves);
    EXPECT_EQ(on.buckets, hash ? row.offered.reta_size : 0) << row.driver;
    EXPECT_EQ((on.rx & kHash) != 0, hash) << row.driver;
    EXPECT_EQ(choose_offloads(row.offered, two).buckets, 0) << row.driver;
    EXPECT_EQ(choose_offloads(row.offered, two).rx & kHash, 0U) << row.driver;
    PortCapabilities other = row.offered;
    other.reta_size = 100;  // a packet's bucket would not be the last bits of its hash
    EXPECT_EQ(choose_offloads(other, moves).buckets, 0) << row.driver;
  }
}

TEST(Offloads, HaveNames) {
  const PortUse two = with(kRouter, [](PortUse& u) { u.queues = 2; });
  EXPECT_EQ(offloads_text(choose_offloads(kDrivers[0].offered, two)),
            "rx: ipv4-cksum; tx: mbuf-fast-free; rss: ipv4, ipv6, udp, tcp, symmetric");
  EXPECT_EQ(offloads_text({}), "rx: none; tx: none; rss: none");
}

}  // namespace
}  // namespace turnpike
