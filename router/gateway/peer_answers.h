// SPDX-License-Identifier: BSD-3-Clause
// When the peers of a gateway have answered last, whichever lcore they answered.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "common/dpdk/line_vector.h"
#include "common/units/units.h"

namespace turnpike::gateway {

/// Each lcore writes lines of its own; all read.
class PeerAnswers {
 public:
  PeerAnswers(unsigned lcores, size_t peers) : lcores_(lcores), row_(whole_lines(peers)) {
    times_.resize(lcores * row_);
    std::ranges::fill(times_, kNever.count());
  }

  /// A peer has answered a packet of lcore `lcore`.
  void note(unsigned lcore, size_t peer, Nanos now) {
    std::atomic_ref(times_[lcore * row_ + peer]).store(now.count(), std::memory_order_relaxed);
  }
  /// Whether the peer has answered within `time` before `now`.
  [[nodiscard]] bool within(size_t peer, Nanos time, Nanos now) {
    for (unsigned lcore = 0; lcore < lcores_; ++lcore) {
      const Nanos at(std::atomic_ref(times_[lcore * row_ + peer]).load(std::memory_order_relaxed));
      if (at != kNever && now - at < time) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kLine = 64 / sizeof(int64_t);
  static size_t whole_lines(size_t peers) { return (peers + kLine - 1) / kLine * kLine; }

  unsigned lcores_;
  size_t row_;                 // entries of one lcore
  LineVector<int64_t> times_;  // ns, by lcore, then peer
};

}  // namespace turnpike::gateway
