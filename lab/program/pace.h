// SPDX-License-Identifier: BSD-3-Clause
// Plays a world as fast as possible, or at the speed of real time, and shows its progress.
#pragma once

#include <chrono>
#include <cstdio>

#include <rte_cycles.h>

#include "common/program/idle_sleeper.h"
#include "common/time/clock.h"
#include "lab/simulator/world.h"

namespace turnpike::lab {

class Pace {
 public:
  Pace(const config::Topology& topology, bool real_time, bool shown)
      : whole_(to_seconds(topology.run.duration)),
        real_time_(real_time),
        shown_(shown),
        limits_(sleep_limits_for(topology)) {}

  void play(Nanos end, World& world) {
    if (real_time_) {
      follow_clock(end, world);
    } else {
      world.run_until(end);
    }
    show(end);
  }

  /// Wall time since construction, s.
  [[nodiscard]] double wall_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  void follow_clock(Nanos end, World& world) {
    IdleSleeper idle_sleeper(limits_);
    for (Nanos now = clock_.now(); now < end; now = clock_.now())
      idle_sleeper.after_poll(now, world.catch_up(now), world.next() - now);
    world.catch_up(end);
  }

  void show(Nanos now) {
    const double t = to_seconds(now), wall = wall_s();
    if (!shown_ || (wall < next_ && t < whole_)) return;
    std::fprintf(stderr, "\r%.1f of %.1f s, %.1f times real time%s", t, whole_, t / wall,
                 t >= whole_ ? "\n" : "");
    next_ = wall + 0.2;
    shown_ = t < whole_;
  }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const TscClock clock_{rte_get_tsc_hz(), TscClock::ticks()};
  double whole_, next_ = 0;
  bool real_time_, shown_;
  SleepLimits limits_;
};

}  // namespace turnpike::lab
