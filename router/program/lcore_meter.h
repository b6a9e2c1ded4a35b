// SPDX-License-Identifier: BSD-3-Clause
// Time that an lcore spends in polls that move packets, and which polls are timed by stage.
#pragma once

#include "common/metrics/counter.h"
#include "common/units/units.h"
#include "router/datapath/stage_times.h"

namespace turnpike::router {

/// One lcore writes, any thread reads.
struct alignas(64) LcoreCounters {
  metrics::Counter busy_nanos;  // from the beginning of a poll that moved a packet to the next poll
  metrics::Counter idle_nanos;  // the same of other polls, with the sleeps after them
  metrics::Counter busy_polls, idle_polls;
  StageTimes stages;
};

/// For an lcore's loop, which reads its clock once per poll:
///
///     meter.before_poll(now, stalled);
///     ... poll, timed if meter.due() ...
///     meter.after_poll(worker.moved());
class LcoreMeter {
 public:
  /// Polls per timed poll. Odd, so that housekeeping, every 256 polls, has its share of them.
  static constexpr unsigned kTimedPoll = 255;

  explicit LcoreMeter(LcoreCounters& counters) : counters_(counters) {}

  /// Attributes the time since the last call to the poll in between. `stalled`: the machine did not
  /// run the thread meanwhile; Stalls counts that time.
  void before_poll(Nanos now, bool stalled) {
    const auto spent = static_cast<uint64_t>((now - last_).count());
    last_ = now;
    if (first_ || stalled) [[unlikely]] {
      first_ = false;
      return;
    }
    (moved_ ? counters_.busy_nanos : counters_.idle_nanos).add(spent);
  }

  /// Whether the next poll is to be timed. Call once per poll.
  [[nodiscard]] bool due() {
    if (--until_timed_ != 0) [[likely]]
      return false;
    until_timed_ = kTimedPoll;
    return true;
  }

  void after_poll(bool moved) {
    moved_ = moved;
    (moved ? counters_.busy_polls : counters_.idle_polls).add();
  }

 private:
  LcoreCounters& counters_;
  Nanos last_{0};
  bool first_ = true;
  bool moved_ = false;
  unsigned until_timed_ = kTimedPoll;
};

}  // namespace turnpike::router
