// SPDX-License-Identifier: BSD-3-Clause
// All hosts that one lcore plays: polled with the time, it answers when to be polled next.
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
//     const auto sender = Sender::make(*topology, {.bindings = {&alice, 1}, .pool = pool->get()});
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

/// A host and what it is plugged into.
struct PortBinding {
  uint32_t host = 0;  // index into Topology::hosts
  QueuePair* queue = nullptr;
};

struct SenderOptions {
  std::span<const PortBinding> bindings;
  rte_mempool* pool = nullptr;
  bool zeroed = false;  // the pool's buffers hold zeros beyond the end of their last frame
  OutcomeSink* outcomes = nullptr;
  uint64_t seed = 1;
  // Key of flow ids and tokens; none: derived from the seed, so that runs are repeatable.
  std::optional<SecretKey> secret = {};
  unsigned tick_shift = 0;  // timers fire on ticks of 2^tick_shift ns
  // Of packets in flight, shared with other senders that the same thread polls; null: its own.
  RecordPool* records = nullptr;
  // Tables are in memory from the beginning, so that no packet waits for a page; without it they
  // take memory only as they fill.
  bool populated = true;
  const Traces* traces = nullptr;  // of the topology's workloads; null: the sender reads them
  const Protocol* (*find)(std::string_view name) = find_protocol;
};

/// The same object on a processor's clock and on a virtual one. Times start near 0 and never go
/// back.
class Sender {
 public:
  static constexpr size_t kMaxTimers = 512;   // expiries per poll
  static constexpr unsigned kMaxEvents = 64;  // of the schedule, per poll
  static constexpr Nanos kRetry = 10_us;      // after a queue took nothing

  /// The topology outlives the sender. The error says which host or workload cannot be played.
  static tl::expected<std::unique_ptr<Sender>, std::string> make(const config::Topology& topology,
                                                                 const SenderOptions& options);

  /// Nobody polled until `now` for long enough to matter; to be told before the next poll.
  void stalled(Nanos now) { lcore_.last_stall_end = now; }

  /// A host's link is up again after it was down: flows whose time-outs had backed off try at once.
  void link_restored(Nanos now);

  /// Does what is due by `now`; returns when something will be due next.
  Nanos poll(Nanos now);

  /// Whether the last poll received, fired or sent anything.
  [[nodiscard]] bool moved() const { return moved_; }

  /// The run is over: outcomes of open flows are told, nothing starts any more, flows that were
  /// due and found no place are counted as not started, what is open closes. Poll on until idle(),
  /// or abandon() what is left.
  void stop(Nanos now);
  void abandon(Nanos now);
  /// No flow open, nothing waiting to be sent, and no stream's packet on its way.
  [[nodiscard]] bool idle(Nanos now) const;

  [[nodiscard]] std::span<const std::unique_ptr<Host>> hosts() const { return hosts_; }
  /// By entry of Topology::flows, then of Topology::workloads.
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
  std::vector<Host*> by_index_;  // into Topology::hosts; null: not played here
  // Of a flow that the file names.
  struct Instance {
    uint32_t id = 0;
    bool started = false;
    bool cancelled = false;  // stopped before it found a place
  };
  std::vector<Instance> instances_;
  bool moved_ = false;
  bool stopped_ = false;
  bool waited_ = false;  // starts have waited since the last time that none was overdue
  Nanos polled_{0};      // last
};

}  // namespace turnpike::sender
