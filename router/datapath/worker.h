// SPDX-License-Identifier: BSD-3-Clause
// One lcore's part of the router: passes bursts through the stages and shapes its links' queues.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "common/dpdk/queue_pair.h"
#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// The way of a packet, one function and one file per stage:
///
///     rx -> parse -> lookup -> (local_input) -> for each link: police -> price -> enqueue -> tx
///
/// forward() runs the stages of a link. Polled by one thread; nothing in here reads a clock, locks,
/// allocates or logs.
class alignas(64) Worker {
 public:
  struct Input {
    unsigned link = 0;
    QueuePair* port = nullptr;
    bool behind = false;  // packets that came during a stall wait there
  };
  struct Parts {
    unsigned index = 0;
    rte_mempool* pool = nullptr;
    WorkerCounters* counters = nullptr;
    const std::atomic<const Tables*>* tables = nullptr;
    std::vector<EgressLink*> links;  // all of the router's
    std::vector<QueuePair*> ports;   // by link; null: this worker has no queue there
    Nanos slack{0};                  // LinkShaper's
    TokenBucket errors;
    BufferShare buffers;
  };
  /// Polls between housekeeping: reads new tables, lets the laws of idle links publish.
  static constexpr unsigned kHousekeeping = 256;
  /// Longest time between housekeeping where other workers read what this one publishes: d/8 of
  /// the least d, FCP's averaging window.
  static constexpr Nanos kPublishInterval = 250_us;

  explicit Worker(const Parts& parts);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Receives one burst from each port queue, then sends what is due from the links' queues.
  /// Returns the time of the next call: `now` while work is waiting, kNever if only the arrival of
  /// a packet can cause some.
  Nanos poll(Nanos now);

  /// Whether the last poll received or sent anything.
  [[nodiscard]] bool moved() const { return moved_; }

  /// Reports that the thread was descheduled since `since`. Call before the next poll().
  void stall(Nanos since, Nanos now);

  /// Ends reception; packets held are still sent. Call on the polling thread.
  void stop_receiving() { inputs_.clear(); }
  /// Drops all packets held. Call on the polling thread.
  void discard();

 private:
  void housekeeping(Nanos now);
  Nanos drain(Nanos now);
  void end_stall();

  const std::atomic<const Tables*>& tables_;
  WorkerContext context_;
  std::vector<Input> inputs_;
  size_t first_ = 0;      // input that the last poll began with
  Nanos next_update_{0};  // of a law's control interval
  Nanos stall_begin_{0};  // of the last stall
  bool behind_ = false;   // an input is
  unsigned polls_ = 0;
  bool shared_ = false;    // several workers send to a link with a law
  Nanos housekeeping_{0};  // time of the last
  bool moved_ = false;
  Burst burst_;
};

}  // namespace turnpike::router
