// SPDX-License-Identifier: BSD-3-Clause
// All flows of an lcore, found by the id that their packets carry.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/dpdk/large_array.h"
#include "sender/connection/flow.h"
#include "sender/connection/flow_id.h"

namespace turnpike::sender {

/// An id encodes a place in the table and, above it, how often that place has been used: a late
/// packet of an earlier flow never meets the later one. Places are reused oldest first, so a
/// generation comes round only after capacity x 2^(32 - place bits) flows.
class FlowTable {
 public:
  static constexpr size_t kMaxCapacity = size_t{1} << 24;

  /// Maps room for `capacity` flows (1 to kMaxCapacity) and never again; places that were never
  /// used take no memory unless the table is `populated`.
  /// `ids`: of this table's lcore.
  explicit FlowTable(size_t capacity, bool populated = true, FlowIdCode ids = FlowIdCode())
      : capacity_(std::clamp<size_t>(capacity, 1, kMaxCapacity)),
        place_bits_(static_cast<unsigned>(std::bit_width(capacity_ - 1))),
        ids_(ids),
        flows_(capacity_, populated),
        free_(capacity_, populated),
        left_(capacity_) {}

  /// A newly constructed flow with a new id; null when the table is full.
  [[nodiscard]] Flow* open() {
    if (left_ == 0) return nullptr;
    --left_;
    const size_t place = next_place();
    Flow& flow = flows_[place];
    const auto number =
        static_cast<uint32_t>(ids_.number_of(flow.id) + (uint64_t{1} << place_bits_));
    std::destroy_at(&flow);
    std::construct_at(&flow)->id = ids_.id_of(number);
    return &flow;
  }

  /// The flow must have no timer armed and no record left.
  void close(Flow& flow) {
    flow.stage = Stage::kFree;
    const auto place = static_cast<uint32_t>(&flow - &flows_[0]);
    // The ring's slots are first used in order, then come round.
    if (last_ == free_.size() && free_.can_grow()) free_.grow();
    free_[last_] = place;
    last_ = last_ + 1 == capacity_ ? 0 : last_ + 1;
    ++left_;
  }

  /// The open flow of this id, or null.
  [[nodiscard]] Flow* find(uint32_t id) {
    const size_t place = place_of(id);
    if (place >= flows_.size()) return nullptr;
    Flow& flow = flows_[place];
    return flow.id == id && flow.stage != Stage::kFree ? &flow : nullptr;
  }

  /// Prefetches the flow in the place of this id, which may be forged. Returns it without reading
  /// it, or null if there is no such place.
  [[nodiscard]] const Flow* touch(uint32_t id) const {
    const size_t place = place_of(id);
    if (place >= flows_.size()) return nullptr;
    flows_[place].touch();
    return &flows_[place];
  }

  /// The flow that `part` is a member of. Does not read it.
  [[nodiscard]] Flow& owner_of(const void* part) {
    const auto offset = reinterpret_cast<uintptr_t>(part) - reinterpret_cast<uintptr_t>(&flows_[0]);
    return flows_[offset / sizeof(Flow)];
  }

  [[nodiscard]] const FlowIdCode& ids() const { return ids_; }
  [[nodiscard]] size_t capacity() const { return capacity_; }
  [[nodiscard]] size_t open_flows() const { return capacity_ - left_; }
  [[nodiscard]] bool full() const { return left_ == 0; }

  template <class F>
  void for_each(F&& visit) {
    for (size_t i = 0; i < flows_.size(); ++i) {
      if (flows_[i].stage != Stage::kFree) visit(flows_[i]);
    }
  }

 private:
  [[nodiscard]] size_t place_of(uint32_t id) const {
    return ids_.number_of(id) & ((uint64_t{1} << place_bits_) - 1);
  }
  /// Requires a free place. Places that were never used come before all that have been freed.
  size_t next_place() {
    if (flows_.can_grow()) {
      const size_t place = flows_.grow();
      flows_[place].id = ids_.id_of(static_cast<uint32_t>(place));
      return place;
    }
    const uint32_t place = free_[first_];
    first_ = first_ + 1 == capacity_ ? 0 : first_ + 1;
    return place;
  }

  size_t capacity_;
  unsigned place_bits_;
  FlowIdCode ids_;
  GrowingArray<Flow> flows_;
  GrowingArray<uint32_t> free_;  // a ring of places, oldest first
  size_t first_ = 0, last_ = 0;  // in it
  size_t left_;
};

}  // namespace turnpike::sender
