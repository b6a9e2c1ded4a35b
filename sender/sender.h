// SPDX-License-Identifier: BSD-3-Clause
// Runs all hosts of one lcore: poll() receives, runs timers and sends, and returns the next
// deadline.
//
// Example:
//
//     #include "common/config/load.h"
//     #include "common/dpdk/pool.h"
//     #include "common/dpdk/ring_queue.h"
//
//     const auto topology = config::load_file("configs/demo.yaml");
//     const auto pool = Pool::create("sender", {});
//     auto cable = RingCable::create("cable", 1024);
//     if (!topology || !pool || !cable) return;
//     const PortBinding alice{.host = 0, .queue = &cable->end(0)};
//     struct : OutcomeSink {
//       void flow_ended(const FlowOutcome&) override {}
//     } outcomes;
//     const auto sender = Sender::make(
//         *topology, {.bindings = {&alice, 1}, .pool = pool->get(), .outcomes = outcomes});
//     if (!sender) return;                                        // sender.error() says why
//     for (Nanos now{0}; now < 1_s;) now = (*sender)->poll(now);  // a virtual clock jumps
//     const uint64_t packets = (*sender)->hosts()[0]->totals().sent_packets.read();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/protocols/registry.h"
#include "sender/host/host.h"
#include "sender/lcore_state.h"
#include "sender/workload/traffic_schedule.h"

namespace turnpike::sender {

/// A host and the queue pair of its port.
struct PortBinding {
  uint32_t host = 0;  // index into Topology::hosts
  QueuePair* queue = nullptr;
};

struct SenderOptions {
  std::span<const PortBinding> bindings;
  rte_mempool* pool = nullptr;
  bool zeroed = false;    // the pool's buffers hold zeros after the end of their last frame
  OutcomeSink& outcomes;  // outlives the sender
  uint64_t seed = 1;
  // Key of flow ids and tokens. None: derived from the seed, so that runs are repeatable.
  std::optional<SecretKey> secret = {};
  unsigned tick_shift = 0;  // timers fire on ticks of 2^tick_shift ns
  // Records of packets in flight, shared with other senders that the same thread polls. Null: the
  // sender allocates its own.
  RecordPool* records = nullptr;
  // True: make() touches all memory of the tables, so that no packet causes a page fault. False:
  // tables take memory as they fill.
  bool populated = true;
  const Traces* traces = nullptr;  // of the topology's workloads; null: make() reads them
  // Flows of workloads, shared with other senders that the same thread polls and of one host each;
  // outlives the sender. Null: the sender draws them.
  SharedArrivals* arrivals = nullptr;
  const Protocol* (*find)(std::string_view name) = find_protocol;
};

/// Runs on the TSC and on a virtual clock alike: every call receives the time. Times begin near 0
/// and never decrease. One thread makes all calls; other threads read totals only.
class Sender {
 public:
  static constexpr size_t kMaxTimers = 512;   // expiries per poll
  static constexpr unsigned kMaxEvents = 64;  // events of the schedule per poll
  static constexpr Nanos kRetry = 10_us;      // until the next poll while a TX queue is full

  /// The topology, queues and pools outlive the sender. The error names the host, flow or workload
  /// that the sender cannot run.
  static tl::expected<std::unique_ptr<Sender>, std::string> make(const config::Topology& topology,
                                                                 const SenderOptions& options);

  /// Reports that the thread was descheduled until `now`. Call before the next poll(): RTTs of
  /// packets sent before `now` include the stall.
  void stalled(Nanos now) { lcore_.last_stall_end = now; }

  /// Call when a host's link is up again: flows whose RTO backed off retransmit at once.
  void link_restored(Nanos now);

  /// Receives packets, starts and stops flows, runs timers until `now`, and sends. Returns the time
  /// of the next deadline, at least `now`; kNever: none.
  Nanos poll(Nanos now);

  /// Whether the last poll received or sent packets or ran timers.
  [[nodiscard]] bool moved() const { return moved_; }

  /// Ends the run: reports the outcomes of open flows, starts no more flows, counts flows that were
  /// due but waited for a free entry as not started, and begins to close open flows. Poll until
  /// idle(), then or after a time limit call abandon().
  void stop(Nanos now);
  /// Frees all flows at once, without closing them.
  void abandon(Nanos now);
  /// Whether no flow is open, no frame waits for a TX queue, and no stream's packet can arrive. For
  /// use after stop().
  [[nodiscard]] bool idle(Nanos now) const;

  [[nodiscard]] std::span<const std::unique_ptr<Host>> hosts() const { return hosts_; }
  /// Totals by entry of Topology::flows, then of Topology::workloads.
  [[nodiscard]] std::span<const GroupTotals> groups() const {
    return {lcore_.groups.get(), kinds_.size()};
  }
  [[nodiscard]] LcoreState& lcore() { return lcore_; }

 private:
  Sender(const config::Topology& topology, const SenderOptions& options, const SecretKey& secret,
         std::span<const uint32_t> hosts, const Traces& traces, TrafficSchedule schedule);

  tl::expected<void, std::string> add_kinds(const config::Topology& topology,
                                            const SenderOptions& options);
  void fetch_due(Nanos now);
  void start_due(Nanos now);
  void apply(const Event& event, Nanos now);
  [[nodiscard]] Nanos next_deadline(Nanos now) const;

  LcoreState lcore_;
  TrafficSchedule schedule_;
  std::vector<FlowClass> kinds_;  // by entry of the topology's traffic
  std::vector<std::unique_ptr<Host>> hosts_;
  [[nodiscard]] Host*& host_of(uint32_t index) { return by_index_[index - first_]; }

  uint32_t first_ = 0;           // index into Topology::hosts
  std::vector<Host*> by_index_;  // by index, from there on; null: another sender runs it
  // State of a flow that the topology file names.
  struct Instance {
    uint32_t id = 0;
    bool started = false;
    bool cancelled = false;  // stopped before the flow table had a free entry
  };
  std::vector<Instance> instances_;
  bool moved_ = false;
  bool stopped_ = false;
  bool waited_ = false;  // starts have waited since the last time that none was overdue
  Nanos polled_{0};      // time of the last poll
};

}  // namespace turnpike::sender
