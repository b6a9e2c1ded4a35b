// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/extended_stats.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <rte_ethdev.h>

namespace turnpike {
namespace {

/// ethdev's names of the fields of rte_eth_stats, which it puts before a driver's own statistics.
constexpr auto kBasic = std::to_array<std::string_view>(
    {"rx_good_packets", "tx_good_packets", "rx_good_bytes", "tx_good_bytes", "rx_missed_errors",
     "rx_errors", "tx_errors", "rx_mbuf_allocation_errors"});

std::string text_of(const rte_eth_xstat_name& name) {
  return {name.name, strnlen(name.name, sizeof name.name)};
}

}  // namespace

ExtendedStats::ExtendedStats(uint16_t port) : port_(port) {
  const int count = rte_eth_xstats_get_names_by_id(port, nullptr, 0, nullptr);
  if (count <= 0) return;
  std::vector<rte_eth_xstat_name> all(static_cast<size_t>(count));
  const auto size = static_cast<unsigned>(count);
  if (rte_eth_xstats_get_names_by_id(port, all.data(), size, nullptr) != count) return;
  for (size_t id = 0; id < all.size(); ++id) {
    std::string name = text_of(all[id]);
    if (id < kBasic.size() && std::ranges::find(kBasic, name) != kBasic.end()) continue;
    if (names_.size() == kMax || std::ranges::find(names_, name) != names_.end()) {
      ++omitted_;
      continue;
    }
    names_.push_back(std::move(name));
    ids_.push_back(id);
  }
}

std::vector<ExtendedStat> ExtendedStats::read() const {
  std::vector<uint64_t> values(ids_.size());
  const auto size = static_cast<unsigned>(ids_.size());
  if (size == 0 ||
      rte_eth_xstats_get_by_id(port_, ids_.data(), values.data(), size) != static_cast<int>(size))
    return {};
  std::vector<ExtendedStat> stats;
  stats.reserve(names_.size());
  for (size_t i = 0; i < names_.size(); ++i) stats.push_back({names_[i], values[i]});
  return stats;
}

}  // namespace turnpike
