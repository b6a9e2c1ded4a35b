// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/flow_control.h"

#include <algorithm>
#include <array>

#include <rte_errno.h>
#include <rte_ethdev.h>

#include "common/dpdk/dpdk_log.h"

namespace turnpike {
namespace {

constexpr auto kNames = std::to_array<std::string_view>({"off", "rx", "tx", "on"});

static_assert(static_cast<int>(FlowControl::kOff) == RTE_ETH_FC_NONE &&
              static_cast<int>(FlowControl::kRx) == RTE_ETH_FC_RX_PAUSE &&
              static_cast<int>(FlowControl::kTx) == RTE_ETH_FC_TX_PAUSE &&
              static_cast<int>(FlowControl::kOn) == RTE_ETH_FC_FULL);

/// Names of the statistics that count pause frames of one direction, and whose sum is their number.
/// XON is a pause frame with time 0.
struct Names {
  std::string_view first, second = {};
};
using Spellings = std::array<Names, 6>;

// In DPDK's drivers/net, from 22.11 on. The first that a driver has counts: ixgbe has the same
// counters under the first two.
constexpr Spellings kReceived{{{"rx_xon_packets", "rx_xoff_packets"},  // igb, igc, ixgbe, i40e, ice
                               {"rx_flow_control_xon_packets", "rx_flow_control_xoff_packets"},
                               // ngbe, txgbe
                               {"rx_pause_frames"},       // axgbe, bnxt, qede
                               {"rx_pause_packets"},      // cxgbe
                               {"mac_rx_mac_pause_num"},  // hns3
                               {"rx_pause_pkts"}}};       // sfc
constexpr Spellings kSent{{{"tx_xon_packets", "tx_xoff_packets"},
                           {"tx_flow_control_xon_packets", "tx_flow_control_xoff_packets"},
                           {"tx_pause_frames"},  // cxgbe as well
                           {"tx_pause_packets"},
                           {"mac_tx_mac_pause_num"},
                           {"tx_pause_pkts"}}};

std::optional<uint64_t> value_of(std::span<const ExtendedStat> stats, std::string_view name) {
  if (name.empty()) return 0;
  const auto at = std::ranges::find(stats, name, &ExtendedStat::name);
  if (at == stats.end()) return {};
  return at->value;
}

std::optional<uint64_t> frames(std::span<const ExtendedStat> stats, const Spellings& direction) {
  for (const Names& names : direction) {
    const auto first = value_of(stats, names.first), second = value_of(stats, names.second);
    if (first && second) return *first + *second;
  }
  return {};
}

}  // namespace

std::string_view name_of(FlowControl mode) { return kNames[static_cast<size_t>(mode)]; }

std::optional<FlowControl> flow_control_of(uint16_t port) {
  const CapturedLog log;
  rte_eth_fc_conf conf{};
  if (rte_eth_dev_flow_ctrl_get(port, &conf) != 0) return {};
  return static_cast<FlowControl>(conf.mode);
}

tl::expected<void, std::string> set_flow_control(uint16_t port, FlowControl mode) {
  const CapturedLog log;
  // Drivers refuse thresholds and an autonegotiation that are not theirs.
  rte_eth_fc_conf conf{};
  int error = rte_eth_dev_flow_ctrl_get(port, &conf);
  conf.mode = static_cast<rte_eth_fc_mode>(mode);
  if (error == 0) error = rte_eth_dev_flow_ctrl_set(port, &conf);
  if (error == 0) return {};
  const std::string reason = log.text();
  return tl::unexpected(reason.empty() ? std::string(rte_strerror(-error)) : reason);
}

PauseFrames pause_frames(std::span<const ExtendedStat> stats) {
  return {.received = frames(stats, kReceived), .sent = frames(stats, kSent)};
}

}  // namespace turnpike
