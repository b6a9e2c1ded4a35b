// SPDX-License-Identifier: BSD-3-Clause
// Keeps ranges in order and apart: adjacent ranges are merged.
#include "sender/receiver/received.h"

namespace turnpike::sender {

Received::AddResult Received::add(SackRangePool& pool, uint64_t sequence, uint32_t& at) {
  at = kNoRange;
  if (sequence < expected_) return AddResult::kDuplicate;

  if (sequence == expected_) {
    ++expected_;
    if (first_ != kNoRange && pool[first_].begin == expected_) {
      expected_ = pool[first_].end;
      unlink(pool, first_);
    }
    return AddResult::kNew;
  }

  uint32_t i = first_;
  if (last_ != kNoRange && !find(pool, sequence, i)) return AddResult::kRefused;
  if (i == kNoRange || sequence + 1 < pool[i].begin) {
    at = insert(pool, sequence, i);
    return at == kNoRange ? AddResult::kRefused : AddResult::kNew;
  }
  at = i;
  if (i != last_) finger_ = i;
  SackRange& run = pool[i];
  if (sequence >= run.begin && sequence < run.end) return AddResult::kDuplicate;
  if (sequence + 1 == run.begin) {
    run.begin = sequence;  // the previous range ends before that: otherwise find() returns it
    return AddResult::kNew;
  }
  run.end = sequence + 1;
  const uint32_t next = run.next;
  if (next != kNoRange && pool[next].begin == run.end) {
    run.end = pool[next].end;
    unlink(pool, next);
  }
  return AddResult::kNew;
}

// Sets `at` to the first range that ends at `sequence` or later, kNoRange if there is none; false
// after kMaxSteps. New and reordered packets belong near the last range, retransmissions near the
// one before. So the finger divides the ranges in two, of which one is searched from both its ends.
// A search that gives up leaves the finger nearer to the packet, for its next retransmission.
bool Received::find(const SackRangePool& pool, uint64_t sequence, uint32_t& at) {
  if (pool[last_].end < sequence) {
    at = kNoRange;
    return true;
  }
  const bool above = finger_ != kNoRange && pool[finger_].end < sequence;
  uint32_t up = above ? finger_ : first_;
  uint32_t down = above || finger_ == kNoRange ? last_ : finger_;
  for (unsigned step = 0; step < kMaxSteps; ++step) {
    const uint32_t before = pool[down].previous;
    at = down;
    if (before == kNoRange || pool[before].end < sequence) return true;
    at = up;
    if (pool[up].end >= sequence) return true;
    down = before;
    up = pool[up].next;
  }
  finger_ = above ? up : down;
  return false;
}

void Received::clear(SackRangePool& pool) {
  while (first_ != kNoRange) unlink(pool, first_);
  expected_ = 0;
  finger_ = kNoRange;
}

void Received::unlink(SackRangePool& pool, uint32_t i) {
  const SackRange run = pool[i];
  if (finger_ == i) finger_ = run.next;
  (run.previous == kNoRange ? first_ : pool[run.previous].next) = run.next;
  (run.next == kNoRange ? last_ : pool[run.next].previous) = run.previous;
  pool.give_back(i);
  --count_;
}

uint32_t Received::insert(SackRangePool& pool, uint64_t sequence, uint32_t before) {
  const uint32_t i = count_ < kMaxRuns ? pool.take() : kNoRange;
  if (i == kNoRange) return i;
  SackRange& run = pool[i];
  run = {sequence, sequence + 1, before, before == kNoRange ? last_ : pool[before].previous};
  (run.previous == kNoRange ? first_ : pool[run.previous].next) = i;
  (before == kNoRange ? last_ : pool[before].previous) = i;
  ++count_;
  return i;
}

}  // namespace turnpike::sender
