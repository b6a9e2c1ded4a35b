// SPDX-License-Identifier: BSD-3-Clause
// Short sleeps for a polling thread that has nothing to do, so that it leaves the CPU to others and
// has it back at once.
//
// Example:
//
//     IdleSleeper sleeper({.most = 50_us, .late = 50_us});
//     for (Nanos now{0}; now < 100_us; now += 10_us) {  // an lcore's loop reads its clock instead
//       const bool moved = false;                       // of the poll at `now`
//       sleeper.after_poll(now, moved, /*until_next=*/20_us);
//     }
#pragma once

#include "common/config/topology.h"
#include "common/units/units.h"

namespace turnpike {

/// How long the idle lcores of a program sleep at a time.
struct SleepLimits {
  Nanos most{0};  // 0: they poll on
  Nanos late{0};  // what is due may wait for so long

  explicit operator bool() const { return most > Nanos(0); }
};

/// A tenth of the topology's shortest delay, within [20, 50] us: long against a poll, short
/// against a round trip. Streams are sent on time, flows and queues catch up with what was due.
SleepLimits sleep_limits_for(const config::Topology& topology);

/// Belongs to the thread that makes it. A kernel runs a thread as soon as it wakes if it has had
/// less than its share of the CPU and asks for short slices, and lets it wait for a tick, 1 to 4
/// ms, otherwise. So the thread asks for short slices, where the kernel knows them (Linux 6.12),
/// and sleeps for as long as it ran.
class IdleSleeper {
 public:
  explicit IdleSleeper(SleepLimits limits);

  /// `moved`: the poll at `now` found something to do; `until_next`: how long nothing will be due.
  void after_poll(Nanos now, bool moved, Nanos until_next) {
    if (napped_) woke_ = now;
    idle_ = moved ? 0 : idle_ + 1;
    napped_ = idle_ >= kIdlePolls && limits_;
    if (napped_) nap(now - woke_, until_next);
  }

 private:
  static constexpr unsigned kIdlePolls = 4;  // in a row, before a nap

  void nap(Nanos ran, Nanos until_next) const;

  SleepLimits limits_;
  unsigned idle_ = 0;
  bool napped_ = true;  // after the last poll
  Nanos woke_{0};       // from the last nap
};

}  // namespace turnpike
