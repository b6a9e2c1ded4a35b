// SPDX-License-Identifier: BSD-3-Clause
// Waiting times of packets in a link's queue.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/metrics/histogram.h"
#include "common/units/units.h"

namespace turnpike::router {

/// One worker's figures: it writes, any thread reads.
struct QueueMeter {
  metrics::SharedHistogram nanos;       // ns per packet
  std::atomic<double> byte_seconds{0};  // B s; divided by time: the mean queue in B (Little's law)

  /// `packets` packets of `bytes` B in total have waited for `waited` each.
  void record(uint64_t bytes, Nanos waited, uint64_t packets = 1) {
    nanos.record(static_cast<uint64_t>(waited.count()), packets);
    byte_seconds.store(byte_seconds.load(std::memory_order_relaxed) +
                           static_cast<double>(bytes) * to_seconds(waited),
                       std::memory_order_relaxed);
  }
};

}  // namespace turnpike::router
