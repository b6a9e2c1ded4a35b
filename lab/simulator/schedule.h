// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a virtual clock by deadline: a tournament of the nodes, one deadline each.
#pragma once

#include <cstdint>
#include <vector>

#include "common/units/units.h"

namespace turnpike::lab {

/// Every node has one deadline, which may be kNever. Ties go to the node with the lower number, so
/// that the order of events is the same in every run.
class Schedule {
 public:
  /// Adds a node that is due at once; returns its number, counted from 0.
  uint32_t add() {
    const uint32_t node = nodes_++;
    if (node == leaves_) grow();
    set(node, Nanos(0));
    return node;
  }

  [[nodiscard]] size_t size() const { return nodes_; }
  [[nodiscard]] Nanos due(uint32_t node) const { return matches_[leaves_ + node].due; }
  /// The node that is due first; there must be one.
  [[nodiscard]] uint32_t first() const { return matches_[1].node; }
  [[nodiscard]] Nanos next() const { return nodes_ == 0 ? kNever : matches_[1].due; }

  void set(uint32_t node, Nanos at) {
    // Without branches on who wins, which would often be mispredicted.
    uint32_t place = leaves_ + node, winner = node;
    int64_t due = at.count();
    matches_[place].due = at;
    for (; place > 1; place /= 2) {
      const Entry& other = matches_[place ^ 1];
      const int64_t left = place & 1;  // the other's node is the lower one: it wins ties
      const bool wins = other.due.count() - left < due;
      winner = wins ? other.node : winner;
      due = wins ? other.due.count() : due;
      Entry& match = matches_[place / 2];
      // Above, only a match that this node won, or wins now, has another result.
      if (match.node == winner && winner != node) return;
      match = {Nanos(due), winner};
    }
  }
  /// An event happens at the node at `at`: makes it due no later.
  void wake(uint32_t node, Nanos at) {
    if (at < due(node)) set(node, at);
  }

 private:
  struct Entry {
    Nanos due = kNever;
    uint32_t node = 0;
  };

  void grow() {
    const std::vector<Entry> before = std::move(matches_);
    const uint32_t old = leaves_;
    leaves_ = old == 0 ? 1 : 2 * old;
    matches_.assign(2 * size_t{leaves_}, {});
    for (uint32_t n = 0; n < leaves_; ++n) {
      matches_[leaves_ + n].node = n;
      set(n, n < old ? before[old + n].due : kNever);
    }
  }

  uint32_t nodes_ = 0;
  uint32_t leaves_ = 0;  // 0 or a power of two
  // Match m is between the winners of 2m, of lower nodes, and 2m + 1; nodes begin at `leaves_`.
  std::vector<Entry> matches_;
};

}  // namespace turnpike::lab
