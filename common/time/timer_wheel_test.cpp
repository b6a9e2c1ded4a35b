// SPDX-License-Identifier: BSD-3-Clause
// The timer wheel against a sorted list of deadlines.
#include "common/time/timer_wheel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/units/instrumented.h"

namespace turnpike {
namespace {

constexpr int64_t kBlock = int64_t{1} << TimerWheel::kMinBits;

// The expected timers and their order: by tick of the deadline, then by order of scheduling. A
// timer scheduled after its tick belongs to the tick that is firing.
class DeadlineList {
 public:
  DeadlineList(int64_t start, unsigned shift, unsigned block_bits)
      : current_(start >> shift), shift_(shift), block_bits_(block_bits) {}

  void schedule(uint32_t id, int64_t at) {
    cancel(id);
    if (at == kNever.count()) return;
    const int64_t tick = std::max((at >> shift_) + ((at >> shift_ << shift_) != at), current_);
    queue_.emplace(std::pair(tick, ++order_), id);
  }
  void cancel(uint32_t id) {
    std::erase_if(queue_, [&](const auto& entry) { return entry.second == id; });
  }
  [[nodiscard]] bool armed(uint32_t id) const {
    return std::any_of(queue_.begin(), queue_.end(), [&](auto& e) { return e.second == id; });
  }
  [[nodiscard]] int64_t next_deadline() const {
    return queue_.empty() ? kNever.count() : queue_.begin()->first.first << shift_;
  }
  // Whether the next deadline lies in the current block of ticks.
  [[nodiscard]] bool exact() const {
    return !queue_.empty() && queue_.begin()->first.first >> block_bits_ == current_ >> block_bits_;
  }
  [[nodiscard]] bool due(int64_t now) const {
    return !queue_.empty() && queue_.begin()->first.first <= std::max(now >> shift_, current_);
  }
  // The timer to fire at `now`, if any.
  std::optional<uint32_t> pop(int64_t now) {
    if (!due(now)) return std::nullopt;
    current_ = queue_.begin()->first.first;
    const uint32_t id = queue_.begin()->second;
    queue_.erase(queue_.begin());
    return id;
  }
  void reach(int64_t now) { current_ = std::max(current_, now >> shift_); }

 private:
  std::map<std::pair<int64_t, uint64_t>, uint32_t> queue_;
  int64_t current_;
  unsigned shift_, block_bits_;
  uint64_t order_ = 0;
};

struct Deadlines {
  double farthest;     // ns, deadlines are log-uniform up to here
  double longest_gap;  // ns between calls, likewise
  size_t limit;
  unsigned shift;
  bool jump;  // to next_deadline(), as a virtual clock does
  unsigned block_bits = TimerWheel::kMinBits;
};

struct Numbered : Timer {
  explicit Numbered(uint32_t n) : number(n) {}
  uint32_t number;
};

class Pair {
 public:
  Pair(uint64_t seed, const Deadlines& s)
      : s_(s),
        random_(seed),
        now_(static_cast<int64_t>(random_() % 1'000'000'000)),
        wheel_(Nanos(now_), s.shift, s.block_bits),
        oracle_(now_, s.shift, s.block_bits) {
    for (uint32_t i = 0; i < 40; ++i) timers_.push_back(std::make_unique<Numbered>(i));
  }

  void step() {
    for (auto n = random_() % 6; n > 0; --n) change();
    if (s_.jump && random_() % 2 == 0) {
      const Nanos next = wheel_.next_deadline();
      if (next != kNever) now_ = std::max(now_, next.count());
    } else {
      now_ += far(s_.longest_gap);
    }
    const int64_t given = random_() % 16 == 0 ? now_ - 50 : now_;  // sometimes behind
    size_t fired = 0;
    const auto on_expired = [&](Timer& timer) {
      ++fired;
      EXPECT_FALSE(timer.armed());
      EXPECT_LE(timer.deadline(), Nanos(now_)) << "early";
      const auto expected = oracle_.pop(given);
      ASSERT_TRUE(expected);
      const uint32_t number = static_cast<Numbered&>(timer).number;
      ASSERT_EQ(number, *expected);
      if (random_() % 4 == 0) set(number, now_ + far(s_.farthest) - far(s_.farthest) / 2);
      while (random_() % 3 == 0) change();
    };
    ASSERT_EQ(wheel_.advance(Nanos(given), s_.limit, on_expired), fired);
    ASSERT_LE(fired, s_.limit);
    if (fired == s_.limit) return;
    ASSERT_FALSE(oracle_.due(given)) << "more than a tick late";
    oracle_.reach(given);
  }

  // Both agree on the armed timers and the next deadline.
  void check() {
    for (const auto& t : timers_) ASSERT_EQ(t->armed(), oracle_.armed(t->number));
    const int64_t next = wheel_.next_deadline().count(), right = oracle_.next_deadline();
    ASSERT_EQ(next == kNever.count(), right == kNever.count());
    ASSERT_LE(next, right);
    if (oracle_.exact()) {
      ASSERT_EQ(next, right) << "must be exact within the block";
    }
  }

 private:
  int64_t far(double longest) {
    std::uniform_real_distribution<double> unit(0, 1);
    return static_cast<int64_t>(std::pow(longest, unit(random_)));
  }
  void set(uint32_t id, int64_t at) {
    wheel_.schedule(*timers_[id], Nanos(at));
    oracle_.schedule(id, at);
  }
  void change() {
    const auto id = static_cast<uint32_t>(random_() % timers_.size());
    switch (random_() % 8) {
      case 0:
      case 1:
        wheel_.cancel(*timers_[id]);
        oracle_.cancel(id);
        break;
      case 2:
        set(id, now_ - far(1e6));  // already late
        break;
      case 3:
        set(id, random_() % 8 == 0 ? kNever.count() : now_ + far(4e18));
        break;
      default:
        set(id, now_ + far(s_.farthest));
    }
  }

  Deadlines s_;
  std::mt19937_64 random_;
  int64_t now_;
  TimerWheel wheel_;
  DeadlineList oracle_;
  std::vector<std::unique_ptr<Numbered>> timers_;
};

TEST(TimerWheel, FiresAsTheSortedListDoes) {
  constexpr Deadlines kSchedules[] = {
      {100, 20, 1000, 0, false},    // single nanoseconds
      {1e5, 1e4, 1000, 0, true},    //
      {1e4, 500, 3, 3, false},      // few per call
      {1e6, 1e5, 1, 3, true},       // one per call
      {1e7, 1e6, 1000, 10, false},  // as in the sender
      {1e10, 1e6, 5, 10, true},     //
      {1e9, 4e12, 7, 4, false},     // gaps of an hour
      {1e15, 1e15, 1000, 20, true},
      {1e7, 1e6, 1000, 8, false, 17},  // blocks longer than most timers are set ahead
      {1e9, 1e8, 5, 4, true, 11},
      {1e18, 1e15, 7, 0, true, 13},
  };
  for (const Deadlines& s : kSchedules) {
    for (uint64_t seed = 1; seed <= (kInstrumented ? 3 : 15); ++seed) {
      Pair pair(seed, s);
      for (int i = 0; i < 600; ++i) {
        ASSERT_NO_FATAL_FAILURE(pair.step()) << "shift " << s.shift << " seed " << seed;
        ASSERT_NO_FATAL_FAILURE(pair.check()) << "shift " << s.shift << " seed " << seed;
      }
    }
  }
}

TEST(TimerWheel, VirtualClockWakesAtMostOncePerWheelTooOften) {
  TimerWheel wheel(0_ns, 10);
  Timer timer;
  wheel.schedule(timer, 24_s * 3600);
  size_t fired = 0, calls = 0;
  Nanos now{0};
  while (fired == 0) {
    ASSERT_GT(wheel.next_deadline(), now);
    now = wheel.next_deadline();
    fired = wheel.advance(now, 10, [](Timer&) {});
    ++calls;
  }
  EXPECT_LE(calls, 7U);  // 2^36 ticks and a bit
  EXPECT_GE(now, timer.deadline());
  EXPECT_LT(now, timer.deadline() + 1024_ns);
  EXPECT_EQ(wheel.next_deadline(), kNever);
}

TEST(TimerWheel, FilesOnceWhatIsSetNoFurtherAheadThanABlock) {
  constexpr unsigned kBits = 14;
  TimerWheel wheel(0_ns, 0, kBits);
  Timer near, far;
  wheel.advance(Nanos(1000), 1, [](Timer&) {});
  wheel.schedule(near, Nanos(1 << kBits));  // in the next block, and known by its own tick
  wheel.advance(Nanos((1 << kBits) - 1), 1, [](Timer&) {});
  EXPECT_EQ(wheel.next_deadline(), near.deadline());
  wheel.cancel(near);
  wheel.schedule(far, Nanos((2 << kBits) + 7));
  EXPECT_EQ(wheel.next_deadline(), Nanos(2 << kBits)) << "known by where its block begins";
}

TEST(TimerWheel, TellsWhatFollowsInTheSameTick) {
  TimerWheel wheel(0_ns, 4);
  std::array<Timer, 3> timers;
  for (Timer& t : timers) wheel.schedule(t, 10_ns);
  Timer later;
  wheel.schedule(later, 30_ns);
  EXPECT_EQ(wheel.after(timers[0]), &timers[1]);
  EXPECT_EQ(wheel.after(timers[1]), &timers[2]);
  EXPECT_EQ(wheel.after(timers[2]), nullptr);
  EXPECT_EQ(wheel.after(later), nullptr);
}

TEST(TimerWheel, AdjustsOnlyWhatFiresInAnotherTick) {
  TimerWheel wheel(0_ns, 10);
  Timer timer;
  wheel.adjust(timer, 5000_ns);
  ASSERT_TRUE(timer.armed());
  wheel.adjust(timer, 4097_ns);  // the same tick, that of 5120 ns
  EXPECT_EQ(timer.deadline(), 5000_ns);
  wheel.adjust(timer, 4096_ns);
  EXPECT_EQ(timer.deadline(), 4096_ns);
  size_t fired = wheel.advance(4096_ns, 1, [](Timer&) {});
  EXPECT_EQ(fired, 1U);
}

TEST(TimerWheel, RearmingForNowIsBoundedByTheLimit) {
  TimerWheel wheel(0_ns, 6);
  Timer timer;
  wheel.schedule(timer, 5_ns);
  EXPECT_EQ(wheel.advance(1024_ns, 100, [&](Timer& t) { wheel.schedule(t, 1024_ns); }), 100U);
  EXPECT_TRUE(timer.armed());
  EXPECT_LE(wheel.next_deadline(), 1024_ns);
}

TEST(TimerWheel, FiredTimerMayGoAway) {
  TimerWheel wheel(0_ns, 0);
  auto first = std::make_unique<Timer>(), second = std::make_unique<Timer>();
  wheel.schedule(*first, 5_ns);
  wheel.schedule(*second, 5_ns);
  EXPECT_EQ(wheel.advance(5_ns, 9,
                          [&](Timer&) {
                            first.reset();
                            if (second) wheel.cancel(*second);
                            second.reset();
                          }),
            1U);
  EXPECT_EQ(wheel.next_deadline(), kNever);
}

TEST(TimerWheel, ForeseesTheFirstTimerOfEachTickThatIsDueAndMovesNone) {
  constexpr unsigned kShift = 4;
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    TimerWheel wheel(0_ns, kShift);
    std::array<Timer, 100> timers;
    const auto some = [&](int64_t ticks) {
      return Nanos(static_cast<int64_t>(random() % static_cast<uint64_t>(ticks << kShift)));
    };
    for (Timer& t : timers) wheel.schedule(t, 1_ns + some(3 * kBlock));
    const Nanos reached = some(kBlock);
    wheel.advance(reached, timers.size(), [](Timer&) {});
    const Nanos now = reached + some(kBlock * 3 / 2);

    std::vector<const Timer*> foreseen, fired;
    wheel.foresee(now, [&](const Timer& t) { foreseen.push_back(&t); });
    // foresee() visits the first timer of each tick within the current block.
    int64_t last = -1;
    wheel.advance(now, timers.size(), [&](Timer& t) {
      const int64_t tick = ((t.deadline().count() - 1) >> kShift) + 1;
      if (tick != last && tick / kBlock == (reached.count() >> kShift) / kBlock)
        fired.push_back(&t);
      last = tick;
    });
    ASSERT_EQ(foreseen, fired);
  }
}

// The deadline of a timer in a higher wheel is known only as its slot's start.
TEST(TimerWheel, CallsThatFireNoneFileTheNextBlocksTimersAFewAtATime) {
  TimerWheel wheel(0_ns, 0);
  constexpr Nanos kBegins(3 * kBlock), kFirst = kBegins + 32_ns;  // a block that begins
  std::array<Timer, 40> timers;
  for (Timer& t : timers) wheel.schedule(t, kFirst + Nanos(&t - timers.data()));
  wheel.advance(Nanos(2 * kBlock - 1), 1, [](Timer&) {});
  EXPECT_EQ(wheel.next_deadline(), kBegins) << "it is not the next block yet";
  int calls = 0;
  for (; wheel.next_deadline() < kFirst && calls < 40; ++calls)
    EXPECT_EQ(wheel.advance(Nanos(2 * kBlock + 88), 1, [](Timer&) {}), 0U);
  EXPECT_EQ(wheel.next_deadline(), kFirst);
  EXPECT_GT(calls, 1);
  EXPECT_LT(calls, 40);
  Nanos due = kFirst;
  wheel.advance(kFirst + 100_ns, 40, [&](Timer& t) {
    EXPECT_EQ(t.deadline(), due);
    due += 1_ns;
  });
  EXPECT_EQ(due, kFirst + 40_ns);
}

TEST(TimerWheel, OneThatFiresFilesOneOfTheNextBlock) {
  constexpr Nanos kNow(2 * kBlock + 88), kBegins(3 * kBlock), kThen = kBegins + 32_ns;
  TimerWheel wheel(Nanos(2 * kBlock - 1), 0);
  std::array<Timer, 5> far;
  for (Timer& t : far) wheel.schedule(t, kThen);
  for (size_t fired = 1; fired <= far.size(); ++fired) {
    Timer near;
    wheel.schedule(near, kNow);
    EXPECT_EQ(wheel.advance(kNow, 1, [](Timer&) {}), 1U);
    EXPECT_EQ(wheel.next_deadline(), fired < far.size() ? kBegins : kThen) << fired;
  }
}

TEST(TimerWheel, MayGoAwayBeforeItsTimers) {
  Timer timer;
  {
    TimerWheel wheel(0_ns, 0);
    wheel.schedule(timer, 5_ns);
  }
  SUCCEED();
}

TEST(TimerWheel, FarthestDeadlinesNeitherOverflowNorFire) {
  for (const unsigned bits : {TimerWheel::kMinBits, 13U, TimerWheel::kMaxBits}) {
    for (const unsigned shift : {0U, 1U, 10U, 40U}) {
      TimerWheel wheel(0_ns, shift, bits);
      Timer last, never;
      wheel.schedule(last, kNever - 1_ns);
      wheel.schedule(never, kNever);
      EXPECT_TRUE(last.armed());
      EXPECT_FALSE(never.armed());
      for (int64_t now = 1; now < kNever.count() / 2; now *= 2)
        ASSERT_EQ(wheel.advance(Nanos(now), 9, [](Timer&) {}), 0U);
      EXPECT_GT(wheel.next_deadline().count(), kNever.count() / 2);
    }
  }
}

}  // namespace
}  // namespace turnpike
