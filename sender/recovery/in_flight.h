// SPDX-License-Identifier: BSD-3-Clause
// Packets in flight: records from one preallocated pool, a list per flow in order of sending.
#pragma once

#include <cstddef>
#include <cstdint>

#include <rte_prefetch.h>

#include "common/dpdk/large_array.h"
#include "common/protocols/flow_law.h"
#include "common/units/units.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::sender {

inline constexpr uint32_t kNoRecord = UINT32_MAX;

/// One packet whose fate is not known yet, or that is lost and waits to be sent again.
struct alignas(64) SentPacket {
  Nanos sent{0};
  PacketNote note = {};
  uint64_t sequence = 0;
  uint32_t size = 0;     // B of the IP datagram
  uint32_t payload = 0;  // B of it that the flow's user counts
  uint32_t next = kNoRecord, previous = kNoRecord;
  wire::Kind kind = wire::Kind::kData;

  /// A packet that is about to be sent. Field by field: an object made aside and copied costs more
  /// than all the rest.
  void begin(wire::Kind what, uint64_t number, uint32_t bytes, uint32_t users) {
    note = {};
    sequence = number;
    size = bytes;
    payload = users;
    kind = what;
  }
};
static_assert(sizeof(SentPacket) == 64, "a record fits one cache line");

/// All records of an lcore, used again last in, first out: what was never used takes no memory
/// unless the pool was `populated`.
class RecordPool {
 public:
  explicit RecordPool(size_t capacity, bool populated = true)
      : records_(capacity, populated), free_(capacity) {}

  /// kNoRecord when every record is taken.
  [[nodiscard]] uint32_t take() {
    const uint32_t i = first_free_;
    if (i == kNoRecord) return take_unused();
    first_free_ = records_[i].next;
    if (first_free_ != kNoRecord) prefetch(first_free_);  // the next packet's
    --free_;
    return i;
  }
  void give_back(uint32_t i) {
    records_[i].next = first_free_;
    first_free_ = i;
    ++free_;
  }
  [[nodiscard]] SentPacket& operator[](uint32_t i) { return records_[i]; }
  /// The record is about to be used.
  void prefetch(uint32_t i) const { rte_prefetch0(&records_[i]); }
  [[nodiscard]] size_t free() const { return free_; }
  [[nodiscard]] size_t capacity() const { return records_.capacity(); }

 private:
  uint32_t take_unused() {
    if (!records_.can_grow()) return kNoRecord;
    --free_;
    return static_cast<uint32_t>(records_.grow());
  }

  GrowingArray<SentPacket> records_;
  size_t free_;
  uint32_t first_free_ = kNoRecord;
};

/// A list threaded through the pool's records; 8 bytes in its owner.
class RecordList {
 public:
  [[nodiscard]] bool empty() const { return head_ == kNoRecord; }
  [[nodiscard]] uint32_t head() const { return head_; }
  [[nodiscard]] uint32_t tail() const { return tail_; }

  void push_back(RecordPool& pool, uint32_t i) {
    SentPacket& r = pool[i];
    r.next = kNoRecord;
    r.previous = tail_;
    (tail_ == kNoRecord ? head_ : pool[tail_].next) = i;
    tail_ = i;
  }
  void remove(RecordPool& pool, uint32_t i) {
    const SentPacket& r = pool[i];
    (r.previous == kNoRecord ? head_ : pool[r.previous].next) = r.next;
    (r.next == kNoRecord ? tail_ : pool[r.next].previous) = r.previous;
  }

 private:
  uint32_t head_ = kNoRecord, tail_ = kNoRecord;
};

}  // namespace turnpike::sender
