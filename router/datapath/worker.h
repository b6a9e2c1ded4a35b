// SPDX-License-Identifier: BSD-3-Clause
// One lcore's part of the router: passes bursts through the stages and shapes its links' queues.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "common/dpdk/queue_pair.h"
#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// A packet's path, one function and one file per stage:
///
///     rx -> parse -> lookup -> (multicast) -> (local_input) -> for each link: police -> price ->
///     enqueue -> tx
///
/// Where the file asks for it, check_sources() and find_customers() come before lookup, and
/// charge_customers() after it. forward() runs the stages of a link. Polled by one thread; reads no
/// clock, takes no locks, does not allocate or log.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): members in the order of their use
class alignas(64) Worker {
 public:
  struct Input {
    unsigned link = 0;
    QueuePair* port = nullptr;
    bool behind = false;     // packets that arrived during a stall wait there
    bool guarded = false;    // identify() looks at its packets
    bool edge = false;       // its packets are customers', see Enforcement
    bool customers = false;  // of its packets matter: at an edge, or for links that groups share
    config::SourceCheck source_check = config::SourceCheck::kOff;
  };
  struct Parts {
    unsigned index = 0;
    rte_mempool* pool = nullptr;
    WorkerCounters* counters = nullptr;
    const std::atomic<const Tables*>* tables = nullptr;
    std::vector<EgressLink*> links;  // all of the router's
    std::vector<QueuePair*> ports;   // by link; null: no queue of this worker there
    Nanos slack{0};                  // see LinkShaper
    TokenBucket errors;
    BufferShare buffers;
    MulticastState* multicast = nullptr;       // null: no tree has a branch at this router
    Enforcement* enforcement = nullptr;        // null: none
    const CustomerTable* customers = nullptr;  // null: none
    std::vector<config::SourceCheck> source_checks = {};  // by link; empty: none
  };
  /// Polls between two housekeepings, which read new tables and let the laws of idle links publish.
  static constexpr unsigned kHousekeeping = 256;
  /// Longest time between housekeepings if other workers read this one's figures: d/8 for the
  /// smallest d, FCP's averaging window.
  static constexpr Nanos kPublishInterval = 250_us;

  explicit Worker(const Parts& parts);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Receives one burst from each port queue, then sends packets that are due from the links'
  /// queues. Returns the time of the next call: `now` while work is waiting, kNever if only an
  /// arriving packet can cause work.
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
  void identify(const Input& in);
  void enforce(const Input& in);
  void housekeeping(Nanos now);
  Nanos drain(Nanos now);
  void end_stall();

  const std::atomic<const Tables*>& tables_;
  WorkerContext context_;
  std::vector<Input> inputs_;
  size_t first_ = 0;      // first input of the last poll
  Nanos next_update_{0};  // of the next control interval of a law
  Nanos stall_begin_{0};  // start of the last stall
  bool behind_ = false;   // any Input::behind
  unsigned polls_ = 0;
  bool shared_ = false;    // several workers send to a link with a law
  Nanos housekeeping_{0};  // time of the last housekeeping
  bool moved_ = false;
  Burst burst_;
};

}  // namespace turnpike::router
