// SPDX-License-Identifier: BSD-3-Clause
// Which flows do not do as they are told: section 7 of the paper, one flow at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "common/protocols/xcp/header.h"
#include "common/units/units.h"

namespace turnpike::xcp {

/// Now and then a packet makes its flow a responsiveness. For a round trip and a half, as the flow
/// names it, the flow is told of no increase, so that all it was told before has had its effect,
/// queues or not; then one packet is told to give up half of its window. What leaves from one round
/// trip after that on, for three quarters of another, must fit into what is left: a flow that takes
/// no notice does not, nor one that names a much longer round trip than it has. (In a whole one,
/// which as an average may be longer than the true one, two clumps of a window might lie.) No flow
/// can feedback that it is tested. It supposes that windows are named as they are, undivided by any
/// price.
///
/// One lcore's; its counts may be read by others.
class ResponsivenessTest {
 public:
  /// Time between two tests; 0, as at first: none.
  void test_every(Nanos every) { every_ = every; }

  /// A packet of `size` B leaves that the law would feedback `feedback`, B/s; what it is told
  /// instead.
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
    if (stage_ == Stage::kAsked && now > from_ + rtt_ * 2) judge(now);
    if (stage_ == Stage::kHeld && now > from_ + rtt_ * 4) stage_ = Stage::kIdle;  // it has gone
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
    if (stage_ == Stage::kAsked && since >= rtt_ && since < rtt_ + rtt_ * 3 / 4) seen_ += size;
    return std::min(feedback, 0.0F);
  }

  [[nodiscard]] uint64_t tested() const { return tested_.load(std::memory_order_relaxed); }
  [[nodiscard]] uint64_t guilty() const { return guilty_.load(std::memory_order_relaxed); }

 private:
  static constexpr double kSlack = 1.1;
  static constexpr double kMinPackets = 8;  // half a window must be worth measuring

  enum class Stage : uint8_t { kIdle, kHeld, kAsked };

  void judge(Nanos now) {
    tested_.store(tested() + 1, std::memory_order_relaxed);
    if (seen_ > allowed_) guilty_.store(guilty() + 1, std::memory_order_relaxed);
    stage_ = Stage::kIdle;
    next_ = now + every_;
  }

  Nanos every_{0};
  Stage stage_ = Stage::kIdle;
  uint32_t flow_ = 0;
  Nanos from_{0}, rtt_{0}, next_{0};
  double allowed_ = 0, seen_ = 0;  // B
  std::atomic<uint64_t> tested_{0}, guilty_{0};
};

}  // namespace turnpike::xcp
