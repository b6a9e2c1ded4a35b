// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a virtual clock by deadline: a heap with one deadline per node.
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
    const auto node = static_cast<uint32_t>(heap_.size());
    place_.push_back(node);
    heap_.emplace_back();
    rise(node, {Nanos(0), node});
    return node;
  }

  [[nodiscard]] size_t size() const { return heap_.size(); }
  [[nodiscard]] Nanos due(uint32_t node) const { return heap_[place_[node]].due; }
  /// The node that is due first; there must be one.
  [[nodiscard]] uint32_t first() const { return heap_.front().node; }
  [[nodiscard]] Nanos next() const { return heap_.empty() ? kNever : heap_.front().due; }

  void set(uint32_t node, Nanos at) {
    const uint32_t place = place_[node];
    const Nanos before = heap_[place].due;
    if (at < before) {
      rise(place, {at, node});
    } else if (at > before) {
      sink(place, {at, node});
    }
  }
  /// An event happens at the node at `at`: makes it due no later.
  void wake(uint32_t node, Nanos at) {
    if (at < due(node)) rise(place_[node], {at, node});
  }

 private:
  struct Entry {
    Nanos due{0};
    uint32_t node = 0;
    [[nodiscard]] bool before(const Entry& other) const {
      return due < other.due || (due == other.due && node < other.node);
    }
  };

  void put(uint32_t place, const Entry& entry) {
    heap_[place] = entry;
    place_[entry.node] = place;
  }
  // Put an entry instead of the one at `place`: one that is due earlier, or one that is due later.
  void rise(uint32_t place, const Entry& entry) {
    for (; place > 0 && entry.before(heap_[(place - 1) / 2]); place = (place - 1) / 2)
      put(place, heap_[(place - 1) / 2]);
    put(place, entry);
  }
  void sink(uint32_t place, const Entry& entry) {
    for (;;) {
      uint32_t child = 2 * place + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
      if (!heap_[child].before(entry)) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, entry);
  }

  std::vector<Entry> heap_;
  std::vector<uint32_t> place_;  // of each node in the heap
};

}  // namespace turnpike::lab
