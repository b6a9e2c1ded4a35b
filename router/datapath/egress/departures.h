// SPDX-License-Identifier: BSD-3-Clause
// Tells when the packets that a worker holds have left it, so that another worker may send later
// packets of the same flows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "router/datapath/punt/punt_path.h"
#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Of a worker from whose queue buckets move (see RssSteering):
///
/// - A link with rings, shaped or not, needs no wait. Its owner takes packets from the rings of all
///   workers in order of their time of arrival, and the packets of the other worker are later.
/// - At a port with a queue of this worker's own, packets wait in PortTx and in the transmit ring.
///   PortTx must have been empty. The ring is a FIFO: its packets have left when as many more have
///   been put into it as it has descriptors, or after the time that the port needs for full rings
///   of all its queues. Drivers do not tell: rte_eth_tx_descriptor_status() looks at descriptors
///   that drivers of Intel's NICs do not have written back (tx_rs_thresh), and
///   rte_eth_tx_done_cleanup() does not say what is left. A port that is stopped by flow control
///   (IEEE 802.3x) may take longer than this time.
/// - Packets for Linux must have been taken, and packets that wait for neighbours have left.
///
/// A link that is down is not waited for; its packets are dropped. Nor is anything after kMax: a
/// port that takes nothing for so long must not block the flows that move to another worker.
class Departures {
 public:
  static constexpr Nanos kMax = 2_s;

  explicit Departures(size_t links) : begin_(links), sent_(links) {}

  /// Whether all packets that `worker` held at the first call since restart() have left.
  /// `descriptors`, `time`: see RssSteering::Move. Call after a poll.
  bool done(const WorkerContext& worker, uint32_t descriptors, Nanos time, Nanos now) {
    if (!begun_) begin(now);
    if (now >= since_ + kMax) return true;
    return ports_done(worker, descriptors, time, now) && linux_done(worker);
  }
  void restart() { begun_ = false; }

 private:
  // At `begin_` of a link PortTx was empty, and the worker had sent `sent_` packets by the port.
  static constexpr Nanos kNotYet{-1};

  void begin(Nanos now) {
    begun_ = true;
    since_ = now;
    std::ranges::fill(begin_, kNotYet);
  }

  bool ports_done(const WorkerContext& worker, uint32_t descriptors, Nanos time, Nanos now) {
    bool done = true;
    for (size_t l = 0; l < begin_.size(); ++l) {
      const LinkQueue& queue = worker.queues[l];
      if (!queue.direct() || !queue.up()) continue;
      if (begin_[l] == kNotYet) {
        if (queue.waits_for_port()) {
          done = false;
          continue;
        }
        begin_[l] = now;
        sent_[l] = queue.sent();
      }
      done = done && (now >= begin_[l] + time || queue.sent() - sent_[l] >= descriptors);
    }
    return done;
  }

  [[nodiscard]] bool linux_done(const WorkerContext& worker) const {
    if (worker.punt == nullptr) return true;
    const PuntShard& shard = worker.punt->shard(worker.index);
    return shard.to_linux->empty() && !shard.waiting->holds_since(since_);
  }

  bool begun_ = false;
  Nanos since_{0};
  std::vector<Nanos> begin_;    // by link
  std::vector<uint64_t> sent_;  // the same
};

}  // namespace turnpike::router
