// SPDX-License-Identifier: BSD-3-Clause
// A host as a source: opens flows, paces their packets, hears what became of them, ends them.
#pragma once

#include <cstdint>
#include <memory>

#include "common/metrics/histogram.h"
#include "sender/host/nic.h"
#include "sender/host/paths.h"
#include "sender/host/tx_buffer.h"
#include "sender/lcore_state.h"
#include "sender/pacing/ledger.h"
#include "sender/recovery/acknowledge.h"
#include "sender/strategy/strategy.h"
#include "sender/workload/traffic_schedule.h"

namespace turnpike::sender {

/// What a source is made of; everything it refers to outlives it.
struct SourceParts {
  LcoreState& lcore;
  HostTotals& totals;
  TxBuffer& tx;
  uint32_t host = 0;  // index into Topology::hosts
  Paths paths;
  Budget budget{0};
  std::unique_ptr<Strategy> strategy;
  double line_rate = 0;  // B/s of the host's link, the most a flow may be paced at
  Nic nic;
};

/// Owned by one lcore, like its lcore.
class Source {
 public:
  static constexpr unsigned kMaxBurst = 8;        // packets of one flow at one expiry
  static constexpr unsigned kMaxTimeouts = 15;    // in a row, then the flow is given up
  static constexpr unsigned kSilentTimeouts = 3;  // in a row: the flow is not answered any more
  static constexpr Nanos kRetry = 10_us;          // after a packet found no room

  explicit Source(SourceParts parts)
      : parts_(std::move(parts)),
        ledger_(parts_.budget, parts_.strategy->shared(), parts_.lcore.groups.get()) {}

  /// Starts a flow; the lcore's flow table must have room.
  Flow& open(const FlowClass& kind, const Event& event, Nanos now);

  /// The host has this budget from now on.
  void set_budget(Budget budget);

  /// The flow shall end: it sends what one round trip takes at its rate, so that its law can take
  /// leave of the network, and closes.
  void stop(Flow& flow, Nanos now);

  /// Tells the outcome of a flow that is still open when the run ends, and stops it.
  void wind_down(Flow& flow, Nanos now);
  /// Forgets a flow at once, unfinished.
  void abandon(Flow& flow, Nanos now);

  /// An answer to this flow will be taken soon: touches it, so that it can be prefetched; then the
  /// record of its oldest packet in flight is fetched, then that of the next. Each needs what the
  /// one before has asked for. Null, and nothing to be fetched, if the id cannot be anybody's.
  [[nodiscard]] const Flow* expect(uint32_t id) const { return parts_.lcore.flows.touch(id); }
  void expect_oldest(const Flow& flow) const {
    if (!flow.in_flight.empty()) parts_.lcore.records.prefetch(flow.in_flight.head());
  }
  void expect_next(const Flow& flow) const {
    if (flow.in_flight.empty()) return;
    const uint32_t next = parts_.lcore.records[flow.in_flight.head()].next;
    if (next != kNoRecord) parts_.lcore.records.prefetch(next);
  }
  /// An answer to one of this host's flows; `port` is where it came to, `congestion` B long.
  void on_answer(uint32_t id, const AckInfo& answer, uint8_t protocol, uint16_t port, Nanos now);

  /// The path may be back: a flow that waits for a time-out after others, times out now.
  void link_restored(Flow& flow, Nanos now);

  /// The timer of one of this host's flows has fired.
  void on_timer(Flow& flow, Nanos now);

  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const metrics::Histogram& rtts() const { return rtts_; }
  [[nodiscard]] const metrics::Histogram& queueing() const { return queueing_; }

 private:
  void on_pacing(Flow& flow, Nanos now);
  void on_recovery(Flow& flow, Nanos now);
  void after_answer(Flow& flow, const Acknowledged& done, Nanos now);
  void note_delays(const Flow& flow);

  uint32_t send_next(Flow& flow, FlowState& state);
  uint32_t send_new(Flow& flow, const FlowState& state);
  uint32_t send_again(Flow& flow, const FlowState& state);
  bool send_control(Flow& flow, wire::Kind kind, Nanos now);
  bool transmit(Flow& flow, uint32_t index, const FlowState& state);
  /// What tells one frame of a flow from another.
  struct Outgoing {
    wire::Kind kind;
    uint64_t sequence;
    uint32_t size;  // B of the IP datagram
  };
  /// Makes a frame, its congestion header written by `write_congestion`; false: no room for it.
  template <class Write>
  bool put_frame(Flow& flow, const Outgoing& out, Nanos now, Write&& write_congestion);
  /// A packet of headers alone, right before the data packet of that sequence; if it finds no
  /// room, the law asks again.
  void send_probe(Flow& flow, uint64_t sequence, Nanos now);
  /// The flow might have sent for `idle` and did not.
  void paused(Flow& flow, Nanos idle, Nanos now);
  void write_congestion(Flow& flow, SentPacket& r, uint8_t* header, const FlowState& state);

  [[nodiscard]] FlowState state_of(const Flow& flow, Nanos now) const {
    FlowState state = flow.state(now, ledger_.headroom(flow));
    state.line = parts_.line_rate;
    return state;
  }
  void update(const Flow& flow, FlowState& state) const {
    flow.update(state, ledger_.headroom(flow));
  }
  [[nodiscard]] static bool window_open(const Flow& flow) {
    return flow.in_flight_bytes == 0 ||
           as_double(flow.in_flight_bytes + flow.kind->packet) <= flow.allowance.window;
  }
  void drop_covered(Flow& flow);
  void set_rate(Flow& flow, Nanos now);
  [[nodiscard]] static bool at_floor(const Flow& flow);
  [[nodiscard]] static double unpaid_share(const Flow& flow);
  [[nodiscard]] static double unsaved_share(const Flow& flow, uint32_t size);
  void wake(Flow& flow, Nanos now);
  static void plan_sending(Flow& flow, Nanos not_before);
  /// Sets the timer, after all that may have changed what it waits for.
  void arm(Flow& flow);
  void credit(Flow& flow, const Acknowledged& done);
  void tell_strategy(Flow& flow, Nanos now);
  void leave_budget(Flow& flow);
  void finish(Flow& flow, FlowEnd how, Nanos now);
  void report(Flow& flow, FlowEnd how, Nanos now);

  SourceParts parts_;
  Ledger ledger_;
  metrics::Histogram rtts_, queueing_;
  uint32_t opened_ = 0;
};

}  // namespace turnpike::sender
