// SPDX-License-Identifier: BSD-3-Clause
// Checks pairs of hosts that send to each other: both exist, the sender emulates them, and each has
// a path to the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/config/all_pairs.h"
#include "common/config/draft.h"
#include "common/config/graph_paths.h"
#include "common/config/path.h"

namespace turnpike::config {

/// Adds mistakes to the draft, and records each link's longest round trip in it.
class Pairs {
 public:
  explicit Pairs(Draft& draft) : d_(draft), paths_(draft.topology), graph_(draft.topology) {}

  /// The host of that name; std::nullopt, with a mistake reported, if there is none.
  std::optional<size_t> host(const Field<std::string>& field, const std::string& path);
  /// Reports a host that sends or receives but is external.
  void check_played(size_t host, Position at, const std::string& path);
  /// The smallest MTU on the path, in bytes; std::nullopt without a path. `at` and `path`: place of
  /// the receiver's name; `entry`: path of the traffic's entry.
  std::optional<uint16_t> mtu(size_t from, size_t to, const Field<IpVersion>& version, Position at,
                              const std::string& path, const std::string& entry);
  /// The same of each host in `from` with each other one in `to`: the smallest MTU.
  std::optional<uint16_t> all(const std::vector<size_t>& from, const std::vector<size_t>& to,
                              const Field<IpVersion>& version, Position at,
                              const std::string& entry);

 private:
  [[nodiscard]] std::vector<Hop> way(size_t from, size_t to, unsigned version);
  void complain_unreachable(size_t from, size_t to, Position at, const std::string& path);
  void check_ipv6(unsigned mtu, const Field<IpVersion>& version, const std::string& entry);
  uint16_t examine(size_t from, size_t to, unsigned version);

  Draft& d_;
  PathFinder paths_;
  GraphPaths graph_;
  std::map<std::tuple<size_t, size_t, unsigned>, uint16_t> known_;  // MTU, B; 0: no path
};

}  // namespace turnpike::config
