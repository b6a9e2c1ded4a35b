// SPDX-License-Identifier: BSD-3-Clause
// Runs are kept in order and never touch: two that meet become one.
#include "sender/received.h"

namespace turnpike::sender {

Received::Verdict Received::add(RunPool& pool, uint64_t sequence, uint32_t& at) {
  at = kNoRun;
  if (sequence < expected_) return Verdict::kDuplicate;

  if (sequence == expected_) {
    ++expected_;
    if (first_ != kNoRun && pool[first_].begin == expected_) {
      expected_ = pool[first_].end;
      unlink(pool, first_);
    }
    return Verdict::kNew;
  }

  uint32_t i = first_;
  if (last_ != kNoRun && !find(pool, sequence, i)) return Verdict::kRefused;
  if (i == kNoRun || sequence + 1 < pool[i].begin) {
    at = insert(pool, sequence, i);
    return at == kNoRun ? Verdict::kRefused : Verdict::kNew;
  }
  at = i;
  filled_ = i;
  Run& run = pool[i];
  if (sequence >= run.begin && sequence < run.end) return Verdict::kDuplicate;
  if (sequence + 1 == run.begin) {
    run.begin = sequence;  // the run before ends earlier, or the search had stopped there
    return Verdict::kNew;
  }
  run.end = sequence + 1;
  const uint32_t next = run.next;
  if (next != kNoRun && pool[next].begin == run.end) {
    run.end = pool[next].end;
    unlink(pool, next);
  }
  return Verdict::kNew;
}

// The first run that ends at `sequence` or later, kNoRun if there is none, into `at`. New packets
// belong to the last run or behind it, those that were overtaken a little before; those sent again
// fill the oldest gaps first and go on from there. So it is searched from both sides at once.
bool Received::find(const RunPool& pool, uint64_t sequence, uint32_t& at) const {
  if (pool[last_].end < sequence) {
    at = kNoRun;
    return true;
  }
  uint32_t up = filled_ != kNoRun && sequence >= pool[filled_].begin ? filled_ : first_;
  uint32_t down = last_;
  for (unsigned step = 0; step < kMaxSteps; ++step) {
    const uint32_t before = pool[down].previous;
    at = down;
    if (before == kNoRun || pool[before].end < sequence) return true;
    at = up;
    if (pool[up].end >= sequence) return true;
    down = before;
    up = pool[up].next;
  }
  return false;
}

void Received::clear(RunPool& pool) {
  while (first_ != kNoRun) unlink(pool, first_);
  expected_ = 0;
  filled_ = kNoRun;
}

void Received::unlink(RunPool& pool, uint32_t i) {
  const Run run = pool[i];
  if (filled_ == i) filled_ = run.next;
  (run.previous == kNoRun ? first_ : pool[run.previous].next) = run.next;
  (run.next == kNoRun ? last_ : pool[run.next].previous) = run.previous;
  pool.give_back(i);
  --count_;
}

uint32_t Received::insert(RunPool& pool, uint64_t sequence, uint32_t before) {
  const uint32_t i = count_ < kMaxRuns ? pool.take() : kNoRun;
  if (i == kNoRun) return i;
  Run& run = pool[i];
  run = {sequence, sequence + 1, before, before == kNoRun ? last_ : pool[before].previous};
  (run.previous == kNoRun ? first_ : pool[run.previous].next) = i;
  (before == kNoRun ? last_ : pool[before].previous) = i;
  ++count_;
  return i;
}

}  // namespace turnpike::sender
