// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/idle_sleeper.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace turnpike {
namespace {

constexpr Nanos kMinSleep = 20_us, kMaxSleep = 50_us;
constexpr int64_t kPart = 10;            // of the shortest delay: 1/10
constexpr Nanos kMinUsefulSleep = 5_us;  // shorter sleeps poll instead: waking up takes as long
constexpr Nanos kLongRun = 400_us;       // longer runs do not prolong the sleep
constexpr Nanos kSlice = 100_us;         // the shortest slice that Linux accepts

/// Linux's struct sched_attr, which glibc defines since 2.41.
struct SchedulingAttributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;  // ns
};

/// See sched_setattr(2). Needs no privilege; kernels before 6.12 ignore the slice.
void ask_for_short_slices() {
  constexpr uint32_t kNormalPolicy = 0;
  SchedulingAttributes own{};
  if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0 || own.policy != kNormalPolicy)
    return;
  own.runtime = static_cast<uint64_t>(kSlice.count());
  [[maybe_unused]] const long refused = syscall(SYS_sched_setattr, 0, &own, 0);
}

}  // namespace

void wake_without_delay() {
  // The kernel may wake a sleeper up to this much late, in ns; the default is 50 us.
  prctl(PR_SET_TIMERSLACK, 1UL);
  ask_for_short_slices();
}

SleepLimits sleep_limits_for(const config::Topology& topology) {
  Nanos shortest = kMaxSleep * kPart;
  for (const config::Link& link : topology.links)
    for (const config::Direction& d : link.directions) shortest = std::min(shortest, d.delay);
  const Nanos nap = std::max(shortest / kPart, kMinSleep);
  return {.most = nap, .late = topology.streams.empty() ? nap : Nanos(0)};
}

IdleSleeper::IdleSleeper(SleepLimits limits) : limits_(limits) {
  if (limits_) wake_without_delay();
}

void IdleSleeper::nap(Nanos ran, Nanos until_next) const {
  Nanos time = std::min(std::max(until_next, limits_.late), limits_.most);
  if (limits_.late > Nanos(0) && ran < kLongRun) time = std::max(time, ran);
  if (time >= kMinUsefulSleep) std::this_thread::sleep_for(std::chrono::nanoseconds(time.count()));
}

}  // namespace turnpike
