// SPDX-License-Identifier: BSD-3-Clause
// Hosts that send to each other: that the file has them, that somebody plays them, and that packets
// find a way there and back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/config/draft.h"
#include "common/config/graph_paths.h"
#include "common/config/path.h"

namespace turnpike::config {

/// Reports what is wrong to the draft's mistakes, and notes in the draft each link's longest round
/// trip.
class Pairs {
 public:
  explicit Pairs(Draft& draft) : d_(draft), paths_(draft.topology), graph_(draft.topology) {}

  /// The host of that name; nothing if there is none.
  std::optional<size_t> host(const Field<std::string>& field, const std::string& path);
  /// A host that sends or receives must be the sender's to play.
  void check_played(size_t host, Position at, const std::string& path);
  /// The smallest MTU on the way, in bytes; nothing if there is no way. `at` and `path` are where
  /// the receiver is named, `entry` is the path of the traffic's entry.
  std::optional<uint16_t> mtu(size_t from, size_t to, const Field<IpVersion>& version, Position at,
                              const std::string& path, const std::string& entry);

 private:
  [[nodiscard]] std::vector<Hop> way(size_t from, size_t to, unsigned version);
  uint16_t examine(size_t from, size_t to, unsigned version);

  Draft& d_;
  PathFinder paths_;
  GraphPaths graph_;
  std::map<std::tuple<size_t, size_t, unsigned>, uint16_t> known_;  // paths' MTU; 0: no way
};

}  // namespace turnpike::config
