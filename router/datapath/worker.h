// SPDX-License-Identifier: BSD-3-Clause
// One lcore's share of the router: its queues through the stages, its links' queues drained.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "common/dpdk/queue_pair.h"
#include "router/datapath/link/link_shaper.h"
#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// rx -> parse -> lookup -> price -> enqueue -> tx, and beside them `answer` for what is not plain
/// forwarding. (Policing customers at edge links will stand between route and price.) Polled by
/// one thread; nothing in here reads a clock, locks, allocates or logs.
class alignas(64) Worker {
 public:
  struct Input {
    unsigned link = 0;
    QueuePair* port = nullptr;
    bool behind = false;  // what waits there came during a stall
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
  /// Polls between housekeeping: picking up new tables, keeping idle links' laws up to date.
  static constexpr unsigned kHousekeeping = 256;
  /// Most time between them where other workers read what this one last published: what an idle
  /// worker says of a link is then late by no more than d/8 of the least d.
  static constexpr Nanos kPublishInterval = 250_us;

  explicit Worker(const Parts& parts);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// One burst from each queue, then the due part of each owned link's queue. Returns when there
  /// is something to do next: `now` while work is waiting, kNever if only a port can tell.
  Nanos poll(Nanos now);

  /// Whether the last poll received or sent anything.
  [[nodiscard]] bool moved() const { return moved_; }

  /// This worker was kept from polling since then; to be told before the next poll.
  void missed(Nanos since, Nanos now);

  /// From now on nothing is received; what is held still drains. On the polling thread.
  void stop_receiving() { inputs_.clear(); }
  /// Drops all that is still held. On the polling thread.
  void discard();

 private:
  void housekeeping(Nanos now);
  Nanos drain(Nanos now);
  void settle();

  const std::atomic<const Tables*>& tables_;
  WorkerContext context_;
  std::vector<Input> inputs_;
  size_t first_ = 0;                              // input, of a poll
  std::vector<std::unique_ptr<PortTx>> senders_;  // by link; null: no queue there
  std::vector<LinkShaper> shapers_;               // links this worker owns
  Nanos next_update_{0};
  Nanos stall_{0};       // when the last one began
  bool behind_ = false;  // there is an input that is
  unsigned polls_ = 0;
  bool shared_ = false;  // others send to this worker's links, too
  Nanos kept_{0};        // house, the last time
  bool moved_ = false;
  Burst burst_;
};

}  // namespace turnpike::router
