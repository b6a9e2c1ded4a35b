// SPDX-License-Identifier: BSD-3-Clause
#include "common/time/clock.h"

#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include <gtest/gtest.h>

namespace turnpike {
namespace {

TEST(TscClock, ScalesExactlyForAYear) {
  std::mt19937_64 random(1);
  for (const uint64_t hz : {4'000'000ULL, 999'999'937ULL, 2'299'998'000ULL, 6'123'456'789ULL}) {
    const uint64_t origin = random();  // the difference may wrap
    const TscClock clock(hz, origin);
    EXPECT_EQ(clock.at(origin), 0_ns);
    for (int i = 0; i < 1000; ++i) {
      const uint64_t ticks = random() % (hz * 86400 * 365);
      const long double exact = static_cast<long double>(ticks) * 1e9L / hz;
      const auto got = static_cast<long double>(clock.at(origin + ticks).count());
      ASSERT_LE(std::abs(got - exact), 3) << hz << " Hz, " << ticks << " ticks";
    }
  }
}

TEST(TscClock, AgreesWithTheSystemsClock) {
  using std::chrono::steady_clock;
  const uint64_t first = TscClock::ticks();
  const auto begin = steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const uint64_t last = TscClock::ticks();
  const std::chrono::duration<double> passed = steady_clock::now() - begin;
  const TscClock clock(static_cast<uint64_t>(static_cast<double>(last - first) / passed.count()),
                       first);
  EXPECT_NEAR(to_seconds(clock.at(last)), passed.count(), 1e-6);
  const Nanos a = clock.now(), b = clock.now();
  EXPECT_LE(clock.at(last), a);
  EXPECT_LE(a, b);
}

TEST(VirtualClock, GoesWhereItIsToldButNotBack) {
  VirtualClock clock(5_ns);
  clock.move_to(1_ms);
  clock.move_to(3_ns);
  EXPECT_EQ(clock.now(), 1_ms);
}

}  // namespace
}  // namespace turnpike
