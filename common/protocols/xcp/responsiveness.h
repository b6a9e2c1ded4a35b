// SPDX-License-Identifier: BSD-3-Clause
// Finds unresponsive flows: section 7 of the paper, one flow at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "common/protocols/xcp/header.h"
#include "common/units/units.h"

namespace turnpike::xcp {

/// Tests a flow when its packet comes after the set interval. For one and a half of the flow's
/// round trips, as its header has it, increases are withheld, so that all earlier feedback takes
/// effect even with queues. Then one packet asks the flow to halve its window. The bytes that leave
/// from one round trip later on, during three quarters of a round trip, must fit into the other
/// half; the verdict follows at the end of that time. An unresponsive flow exceeds that, and so
/// does a flow whose headers have a much longer round trip than its own. (A whole round trip, which
/// as an average may exceed the true one, could include two clumps of a window.) A flow cannot
/// notice the test. Assumes windows that are not divided by a price.
///
/// Used by one lcore; any thread may read the counts.
class ResponsivenessTest {
 public:
  /// Time between two tests; 0, the initial value: no tests.
  void test_every(Nanos every) { every_ = every; }

  /// Call for each packet of `size` B that leaves, with the law's `feedback` in B/s. Returns the
  /// feedback to write.
  float feedback(uint32_t flow, const Header& h, double size, float feedback, Nanos now) {
    if (every_ == Nanos(0)) return feedback;
    if (stage_ == Stage::kIdle) {
      const bool testable =
          now >= next_ && h.rtt_ns != 0 && h.rtt_ns * 1e-9 >= kMinPackets * h.flow;
      if (!testable) return feedback;
      stage_ = Stage::kHeld;
      flow_ = flow;
      rtt_ = Nanos(h.rtt_ns);
      from_ = now;
    }
    if (stage_ == Stage::kAsked && now >= from_ + rtt_ + rtt_ * 3 / 4) conclude(now);
    if (stage_ == Stage::kHeld && now > from_ + rtt_ * 4) stage_ = Stage::kIdle;  // it ended
    if (stage_ == Stage::kIdle || flow != flow_) return feedback;
    if (stage_ == Stage::kHeld && now >= from_ + rtt_ + rtt_ / 2 && h.rtt_ns != 0) {
      stage_ = Stage::kAsked;
      rtt_ = Nanos(h.rtt_ns);
      from_ = now;
      const double rate = size / h.flow;  // B/s
      allowed_ = kSlack * rate * to_seconds(rtt_) / 2 + size;
      seen_ = 0;
      return std::min(feedback, static_cast<float>(-rate / 2));
    }
    const Nanos since = now - from_;
    if (stage_ == Stage::kAsked && since >= rtt_) seen_ += size;
    return std::min(feedback, 0.0F);
  }

  [[nodiscard]] uint64_t tested() const { return tested_.load(std::memory_order_relaxed); }
  [[nodiscard]] uint64_t guilty() const { return guilty_.load(std::memory_order_relaxed); }
  /// The longest time from a demand to its verdict.
  [[nodiscard]] Nanos slowest_verdict() const {
    return slowest_verdict_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr double kSlack = 1.1;
  static constexpr double kMinPackets = 8;  // half a window must be enough to measure

  enum class Stage : uint8_t { kIdle, kHeld, kAsked };

  void conclude(Nanos now) {
    tested_.store(tested() + 1, std::memory_order_relaxed);
    if (seen_ > allowed_) guilty_.store(guilty() + 1, std::memory_order_relaxed);
    slowest_verdict_.store(std::max(slowest_verdict(), now - from_), std::memory_order_relaxed);
    stage_ = Stage::kIdle;
    next_ = now + every_;
  }

  Nanos every_{0};
  Stage stage_ = Stage::kIdle;
  uint32_t flow_ = 0;
  Nanos from_{0}, rtt_{0}, next_{0};
  double allowed_ = 0, seen_ = 0;  // B
  std::atomic<uint64_t> tested_{0}, guilty_{0};
  std::atomic<Nanos> slowest_verdict_{Nanos(0)};
};

}  // namespace turnpike::xcp
