// SPDX-License-Identifier: BSD-3-Clause
// One lcore's part of the router: passes bursts through the stages and shapes its links' queues.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "common/dpdk/line_vector.h"
#include "common/dpdk/queue_pair.h"
#include "common/dpdk/rss_steering.h"
#include "router/control/quiescence.h"
#include "router/datapath/egress/departures.h"
#include "router/datapath/lookup/address_batch.h"
#include "router/datapath/stage_times.h"
#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// A packet's path, one function and one file per stage:
///
///     rx -> parse -> lookup -> (multicast) -> (punt) -> (local_input) -> for each link: police ->
///     price -> enqueue -> tx
///
/// Where the file asks for it, check_sources() and seek_customers() come before lookup,
/// find_customers() and charge_customers() after it. forward() runs the stages of a link. Polled by
/// one thread; reads no clock, takes no locks, does not allocate or log.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): members in the order of their use
class alignas(64) Worker {
 public:
  struct Input {
    unsigned link = 0;
    QueuePair* port = nullptr;
    bool behind = false;     // packets that arrived during a stall wait there
    bool guarded = false;    // examine() looks at its packets
    bool edge = false;       // its packets are customers', see Enforcement
    bool customers = false;  // of its packets matter: at an edge, or for links that groups share
    config::SourceCheck source_check = config::SourceCheck::kOff;
  };
  struct Parts {
    unsigned index = 0;
    rte_mempool* pool = nullptr;
    WorkerCounters* counters = nullptr;
    const std::atomic<const Tables*>* tables = nullptr;
    const std::atomic<const Routes*>* routes = nullptr;
    Quiescence* quiescence = nullptr;  // of `routes`; null: these never change
    std::vector<EgressLink*> links;    // all of the router's
    std::vector<QueuePair*> ports;     // by link; null: no queue of this worker there
    // Number of times that a link has come up or gone down; null: none does.
    const std::atomic<uint32_t>* link_changes = nullptr;
    Nanos slack{0};  // see LinkShaper
    TokenBucket errors;
    BufferShare buffers;
    MulticastState* multicast = nullptr;       // null: no tree has a branch at this router
    Enforcement* enforcement = nullptr;        // null: none
    const CustomerTable* customers = nullptr;  // null: none
    PuntPath* punt = nullptr;                  // null: Linux is not the control plane
    RssSteering* steering = nullptr;           // of the ports; null: no bucket of theirs moves
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

  /// The same, and adds the time of each stage to `times`. A function of its own, so that poll()
  /// pays nothing for it; call it for one poll in hundreds.
  Nanos poll_timed(Nanos now, TickSource ticks, StageTimes& times);

  /// Whether the last poll received or sent anything.
  [[nodiscard]] bool moved() const { return moved_; }

  /// Reports that the thread was descheduled since `since`. Call before the next poll().
  void stall(Nanos since, Nanos now);

  /// Sets the probe that traces or captures packets; null: none. The worker then has no pointer to
  /// the former one. Call on the polling thread, or while it is held between two polls.
  void set_probe(Probe* probe);

  /// Sets the ends of tunnels at this router, which outlive the worker. Call before the first poll.
  void set_tunnels(Tunnels* tunnels) { context_.tunnels = tunnels; }

  // For a worker on a thread of its own, called there between polls. Workers that one thread polls
  // need none of these: routes then change between two polls.
  /// Before the first poll, and after offline().
  void online() {
    if (quiescence_ != nullptr) quiescence_->online(context_.index);
  }
  /// After each poll: routes that it used may be freed.
  void quiescent() {
    if (quiescence_ != nullptr) quiescence_->quiescent(context_.index);
  }
  /// Before the thread waits for the one that changes routes, and at its end.
  void offline() {
    if (quiescence_ != nullptr) quiescence_->offline(context_.index);
  }

  /// Takes tables, customers, source checks and shares of buffers of `parts`, which are made for a
  /// changed configuration of the same links. Call while no worker polls, after the links have
  /// taken theirs. Does not allocate.
  void reconfigure(Parts& parts);
  /// This worker's side of a link.
  [[nodiscard]] LinkQueue& queue(size_t link) { return context_.queues[link]; }

  /// Ends reception; packets held are still sent. Call on the polling thread.
  void stop_receiving() {
    inputs_.clear();
    arrivals_.clear();
  }
  /// Drops all packets held. Call on the polling thread.
  void discard();

 private:
  void read_parts(const Parts& parts);
  void guard_inputs();
  template <class Timer>
  Nanos poll_with(Nanos now, Timer timer);
  void examine(const Input& in);
  void identify(const Input& in);
  void pass_observed(const Input& in, Trace* trace);
  void enforce(const Input& in);
  template <class Timer>
  void settle(const Input& in, Timer& timer);
  void settle_apart();
  [[nodiscard]] std::span<const uint16_t> due_inputs(Nanos now, Nanos& next);
  Nanos serve_rings(Nanos now);
  Nanos serve_tunnels(Nanos now);
  /// Forwards burst_, and frees what is dropped.
  void egress();
  void discard_handed();
  [[nodiscard]] bool joins_answers() const;
  void housekeeping(Nanos now);
  Nanos drain(Nanos now);
  void wake_queues();
  /// Whether packets that arrived during a stall are left where they are until a port has room.
  [[nodiscard]] bool waits_for_port(Nanos now) const;
  void end_stall();
  void report_departures(Nanos now);
  [[nodiscard]] Nanos since_stall(Nanos now) const;

  const std::atomic<const Tables*>& tables_;
  const std::atomic<const Routes*>& routes_;
  Quiescence* quiescence_;
  const std::atomic<uint32_t>& link_changes_;
  RssSteering* steering_;
  WorkerContext context_;
  std::vector<Input> inputs_;
  std::vector<const Nanos*> arrivals_;  // by input: the time of its port's next arrival
  LineVector<uint16_t> due_;            // room for the numbers of all inputs
  LineVector<Nanos> idle_until_;        // by link: LinkQueue::poll() has nothing to do before
  std::vector<QueuePair*> ports_;       // by link; null: none
  size_t first_ = 0;                    // first input of the last poll
  Nanos drain_at_{kNever};              // when a queue or a law has something to do
  Nanos next_update_{0};                // of the next control interval of a law
  Nanos stall_begin_{0};                // start of the last stall
  Nanos wait_until_{0};                 // see waits_for_port()
  bool behind_ = false;                 // any Input::behind
  unsigned polls_ = 0;
  uint32_t seen_changes_ = 0;  // of link_changes_
  bool shared_ = false;        // several workers send to a link with a law
  bool serves_rings_ = false;
  Nanos housekeeping_{0};  // time of the last housekeeping
  bool moved_ = false;
  Departures departures_;
  Burst burst_;
  AddressBatch sources_;  // of packets whose customers are still to be found
};

}  // namespace turnpike::router
