// SPDX-License-Identifier: BSD-3-Clause
// Extended statistics of a port: the counters that a driver has beyond those of every port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace turnpike {

/// A statistic at one time. The name is the driver's, such as rx_size_64_packets.
struct ExtendedStat {
  std::string_view name;
  uint64_t value = 0;
};

/// Reads the statistics by their ids (rte_eth_xstats_get_by_id). Control thread: a driver may read
/// hundreds of registers of the NIC.
class ExtendedStats {
 public:
  /// Statistics that are read of a port, at most; a driver's further ones are left out and counted.
  static constexpr size_t kMax = 512;

  ExtendedStats() = default;
  /// Fetches the names. The port must be started, since some drivers, such as mlx5, have none
  /// before. Those eight that PortStats has are left out.
  explicit ExtendedStats(uint16_t port);

  /// The values at present, in the driver's order; the names live as long as this object. Empty:
  /// the driver has none, or does not answer.
  [[nodiscard]] std::vector<ExtendedStat> read() const;
  /// Statistics of the driver that are not read: beyond kMax, or with the name of another.
  [[nodiscard]] size_t omitted() const { return omitted_; }

 private:
  uint16_t port_ = 0;
  std::vector<std::string> names_;
  std::vector<uint64_t> ids_;  // of the same statistics
  size_t omitted_ = 0;
};

}  // namespace turnpike
