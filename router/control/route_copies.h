// SPDX-License-Identifier: BSD-3-Clause
// Two copies of the routes, one that workers read and one that changes (left-right).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "router/control/next_hops.h"
#include "router/control/path_groups.h"
#include "router/control/quiescence.h"
#include "router/control/routes.h"

namespace turnpike::router {

/// Changes that take effect together.
struct RouteBatch {
  std::vector<Dir24::Write> ipv4;
  std::vector<FibEntry<config::Ipv6Prefix>> ipv6;  // value 0: the prefix goes
  bool ipv6_whole = false;                         // `ipv6` is the whole table, not what changes
  NextHops::Changes hops;
  PathGroups::Changes paths;

  [[nodiscard]] bool empty() const {
    return ipv4.empty() && ipv6.empty() && hops.empty() && paths.empty();
  }
};

/// Prefixes of IPv6 for which there was no room.
using Refused = std::vector<config::Ipv6Prefix>;

/// A batch is applied to the copy that no worker reads, that copy is published, and once every
/// worker has passed a quiescent state the other copy gets the same batch: so lookups never wait
/// and see a batch whole. Used by one thread, except current().
class RouteCopies {
 public:
  /// `name`: as in Fib. `seed`: of the hashes of flows. `quiescence` must outlive it. The error: no
  /// memory.
  static tl::expected<std::unique_ptr<RouteCopies>, std::string> make(std::string name,
                                                                      const FibCapacity& capacity,
                                                                      int socket, uint32_t seed,
                                                                      Quiescence& quiescence);

  /// The routes to look up in. A worker loads it once per poll, and reports quiescence when it has
  /// no pointer into them any more.
  [[nodiscard]] const std::atomic<const Routes*>& current() const { return current_; }

  /// Brings the copy that no worker reads up to date. Waits for workers that may still read it.
  void catch_up();
  /// Publishes a batch after catch_up(). Removals of IPv6 prefixes come first, so that a batch may
  /// replace a full table; a prefix without room is refused and changes nothing. `ipv6`: the table
  /// as it should be after the batch, asked for when the library's count of free groups may have
  /// drifted, see rebuild().
  Refused publish(RouteBatch batch,
                  const std::function<std::vector<FibEntry<config::Ipv6Prefix>>()>& ipv6);

  /// Tables of IPv6 rebuilt so far.
  [[nodiscard]] uint64_t rebuilds() const { return rebuilds_; }
  /// Prefixes that only one of the copies had room for; 0 unless the library has an error.
  [[nodiscard]] uint64_t differences() const { return differences_; }

 private:
  RouteCopies(std::string name, const FibCapacity& capacity, int socket, Quiescence& quiescence)
      : name_(std::move(name)), capacity_(capacity), socket_(socket), quiescence_(quiescence) {}

  tl::expected<Fib, std::string> new_fib();
  void apply(Routes& to, RouteBatch& batch, Refused& refused);
  void rebuild(Routes& to, RouteBatch& batch, Refused& refused);

  std::string name_;
  FibCapacity capacity_;
  int socket_;
  Quiescence& quiescence_;
  std::array<Routes, 2> copies_;
  size_t idle_ = 1;  // the copy that no worker reads after catch_up()
  std::atomic<const Routes*> current_{&copies_[0]};
  bool behind_ = false;  // the idle copy lacks `last_`
  RouteBatch last_;
  Quiescence::Token token_ = 0;  // passed: no worker reads the idle copy
  unsigned made_ = 0;            // FIBs, for their names
  uint64_t since_rebuild_ = 0;   // changes of IPv6
  uint64_t rebuilds_ = 0, differences_ = 0;
};

}  // namespace turnpike::router
