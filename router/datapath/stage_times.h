// SPDX-License-Identifier: BSD-3-Clause
// Time that a worker's stages take, measured in some of its polls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/metrics/counter.h"

namespace turnpike::router {

/// Stages that are timed apart; see Worker for their order.
enum class Stage : uint8_t {
  kRx,
  kParse,
  kLookup,   // with source checks and customers' budgets, where the file asks for them
  kLocal,    // multicast and local_input
  kForward,  // police, price and enqueue; at a line-rate link also the port's transmit function
  kTx,       // shapers, and packets that a port did not take at once
  kCount,
};
inline constexpr size_t kStages = static_cast<size_t>(Stage::kCount);
inline constexpr std::array<std::string_view, kStages> kStageNames{"rx",    "parse",   "lookup",
                                                                   "local", "forward", "tx"};

/// One worker's sums over its timed polls. It writes, any thread reads. Polls that moved no packet
/// do not count: a packet's cost excludes polling in vain.
struct alignas(64) StageTimes {
  std::array<metrics::Counter, kStages> ticks;  // of the tick source, by Stage
  metrics::Counter packets;                     // received in these polls
  metrics::Counter polls;
};

/// Reads a counter that ticks at a constant rate, such as the TSC. Passed in by the program, so
/// that the datapath reads no clock.
using TickSource = uint64_t (*)();

/// Attributes the time since the last call to a stage. For one poll.
class StageTimer {
 public:
  StageTimer(TickSource ticks, StageTimes& times) : ticks_(ticks), times_(times), last_(ticks()) {}

  void lap(Stage stage) {
    const uint64_t now = ticks_();
    spent_[static_cast<size_t>(stage)] += now - last_;
    last_ = now;
  }
  void received(unsigned packets) { packets_ += packets; }
  /// Adds the poll to the sums if it moved a packet.
  void finish(bool moved) {
    if (!moved) return;
    for (size_t s = 0; s < kStages; ++s) times_.ticks[s].add(spent_[s]);
    times_.packets.add(packets_);
    times_.polls.add();
  }

 private:
  TickSource ticks_;
  StageTimes& times_;
  uint64_t last_;
  std::array<uint64_t, kStages> spent_{};
  uint64_t packets_ = 0;
};

/// The timer of polls that are not timed.
struct NoStageTimer {
  static void lap(Stage) {}
  static void received(unsigned) {}
  static void finish(bool) {}
};

}  // namespace turnpike::router
