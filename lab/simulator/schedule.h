// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a virtual clock by deadline: a heap with one deadline per node.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/units/units.h"

namespace turnpike::lab {

/// Every node has one deadline, which may be kNever. Ties go to the node with the lower number, so
/// that the order of events is the same in every run.
class Schedule {
 public:
  /// Adds a node that is due at once; returns its number, counted from 0.
  uint32_t add() {
    const auto node = static_cast<uint32_t>(due_.size());
    due_.emplace_back(0);
    place_.push_back(node);
    heap_.push_back(node);
    rise(node);
    return node;
  }

  [[nodiscard]] size_t size() const { return due_.size(); }
  [[nodiscard]] Nanos due(uint32_t node) const { return due_[node]; }
  /// The node that is due first; there must be one.
  [[nodiscard]] uint32_t first() const { return heap_.front(); }
  [[nodiscard]] Nanos next() const { return heap_.empty() ? kNever : due_[heap_.front()]; }

  void set(uint32_t node, Nanos at) {
    const Nanos before = std::exchange(due_[node], at);
    if (at < before) {
      rise(place_[node]);
    } else if (at > before) {
      sink(place_[node]);
    }
  }
  /// An event happens at the node at `at`: makes it due no later.
  void wake(uint32_t node, Nanos at) {
    if (at < due_[node]) set(node, at);
  }

 private:
  [[nodiscard]] bool before(uint32_t a, uint32_t b) const {
    return due_[a] < due_[b] || (due_[a] == due_[b] && a < b);
  }
  void put(uint32_t place, uint32_t node) {
    heap_[place] = node;
    place_[node] = place;
  }
  void rise(uint32_t place) {
    const uint32_t node = heap_[place];
    while (place > 0 && before(node, heap_[(place - 1) / 2])) {
      put(place, heap_[(place - 1) / 2]);
      place = (place - 1) / 2;
    }
    put(place, node);
  }
  void sink(uint32_t place) {
    const uint32_t node = heap_[place];
    for (;;) {
      uint32_t child = 2 * place + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], node)) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, node);
  }

  std::vector<Nanos> due_;       // by node
  std::vector<uint32_t> place_;  // of each node in the heap
  std::vector<uint32_t> heap_;
};

}  // namespace turnpike::lab
