// SPDX-License-Identifier: BSD-3-Clause
// Short sleeps of an idle polling thread, so that it yields the CPU and still wakes without delay.
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

/// Bounds of one sleep of an idle lcore.
struct SleepLimits {
  Nanos most{0};  // longest sleep; 0: never sleep
  Nanos late{0};  // how late a due event may be handled

  explicit operator bool() const { return most > Nanos(0); }
};

/// The longest sleep is a tenth of the topology's shortest delay, within [20, 50] us: long against
/// a poll, short against a round trip. With streams no event may be late; flows and queues catch up
/// with late events.
SleepLimits sleep_limits_for(const config::Topology& topology);

/// Asks the kernel to run the calling thread soon after its sleeps, see IdleSleeper.
void wake_without_delay();

/// Used by one thread. The kernel runs a thread as soon as it wakes if it has used less than its
/// share of the CPU and asks for short slices; otherwise it may wait for a scheduler tick of 1 to 4
/// ms. So the thread asks for short slices (Linux 6.12 or later) and sleeps for as long as it ran.
class IdleSleeper {
 public:
  explicit IdleSleeper(SleepLimits limits);

  /// `moved`: the poll at `now` handled something; `until_next`: time until the next event is due.
  void after_poll(Nanos now, bool moved, Nanos until_next) {
    if (napped_) woke_ = now;
    idle_ = moved ? 0 : idle_ + 1;
    napped_ = idle_ >= kIdlePolls && limits_;
    if (napped_) nap(now - woke_, until_next);
  }

 private:
  static constexpr unsigned kIdlePolls = 4;  // idle polls in a row before a sleep

  void nap(Nanos ran, Nanos until_next) const;

  SleepLimits limits_;
  unsigned idle_ = 0;
  bool napped_ = true;  // slept after the last poll
  Nanos woke_{0};       // end of the last sleep
};

}  // namespace turnpike
