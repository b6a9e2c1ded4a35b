// SPDX-License-Identifier: BSD-3-Clause
// Neighbours that the kernel is asked to probe, at a bounded rate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_set>

#include "common/units/units.h"
#include "router/linux/route_value.h"

namespace turnpike::router {

/// In the order in which they were added, each once at a time.
class NeighbourProbes {
 public:
  struct Limits {
    Nanos interval{5'000'000};  // between two probes on average: 200 /s
    int64_t burst = 20;         // probes that may be sent at once
    size_t waiting = 65536;     // neighbours, at most; further ones are dropped
  };
  struct Neighbour {
    size_t link = 0;
    Address address;
    bool operator==(const Neighbour&) const = default;
  };

  explicit NeighbourProbes(const Limits& limits) : limits_(limits) {}

  /// False: too many wait.
  bool add(const Neighbour& neighbour) {
    if (waiting_.contains(neighbour)) return true;
    if (queue_.size() >= limits_.waiting) return false;
    waiting_.insert(neighbour);
    queue_.push_back(neighbour);
    return true;
  }

  /// Calls probe(neighbour) for as many as the rate allows now.
  template <class F>
  void send(Nanos now, F&& probe) {
    next_ = std::max(next_, now - limits_.interval * (limits_.burst - 1));
    for (; !queue_.empty() && next_ <= now; next_ += limits_.interval) {
      const Neighbour neighbour = queue_.front();
      queue_.pop_front();
      waiting_.erase(neighbour);
      probe(neighbour);
    }
  }
  /// When to call send() again; kNever: no neighbour waits.
  [[nodiscard]] Nanos due() const { return queue_.empty() ? kNever : next_; }

 private:
  struct Hash {
    size_t operator()(const Neighbour& n) const { return AddressHash{}(n.address) ^ n.link; }
  };

  Limits limits_;
  std::deque<Neighbour> queue_;
  std::unordered_set<Neighbour, Hash> waiting_;
  Nanos next_{0};  // when one more is allowed
};

}  // namespace turnpike::router
