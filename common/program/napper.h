// SPDX-License-Identifier: BSD-3-Clause
// Short sleeps for a polling thread that has nothing to do, so that it leaves the CPU to others and
// has it back at once.
#pragma once

#include <chrono>
#include <thread>

#include <sys/prctl.h>
#include <sys/resource.h>

#include "common/units/units.h"

namespace turnpike {

/// Belongs to the thread that makes it.
class Napper {
 public:
  static constexpr unsigned kIdlePolls = 64;  // in a row, before the first nap
  static constexpr Nanos kNap = 20_us;        // long against a poll, short against a round trip

  Napper() {
    // The kernel may wake a sleeper up to this much late; 50 us unless told otherwise.
    prctl(PR_SET_TIMERSLACK, 1000UL);
    // A thread that naps shares its CPU, and should not queue behind whoever computes there: beside
    // two busy loops the demo's link is 96 % full with this and 88 % without. Only root may.
    [[maybe_unused]] const int refused = setpriority(PRIO_PROCESS, 0, -20);
  }

  /// `moved`: the poll found something to do; `until_next`: how long nothing will be due.
  void after_poll(bool moved, Nanos until_next) {
    idle_ = moved ? 0 : idle_ + 1;
    if (idle_ < kIdlePolls || until_next < kNap) return;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kNap.count()));
  }

 private:
  unsigned idle_ = 0;
};

}  // namespace turnpike
