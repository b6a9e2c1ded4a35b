// SPDX-License-Identifier: BSD-3-Clause
// A host's connections: opens flows, handles their ACKs and timers, ends them.
#pragma once

#include <cstdint>

#include "sender/connection/source_parts.h"
#include "sender/pacing/ledger.h"
#include "sender/recovery/acknowledge.h"
#include "sender/transmission/transmission.h"
#include "sender/workload/traffic_schedule.h"

namespace turnpike::sender {

/// Owned by one lcore.
class Source {
 public:
  static constexpr unsigned kMaxTimeouts = 15;    // in a row, then the flow is given up
  static constexpr unsigned kSilentTimeouts = 3;  // in a row: the flow is not answered any more

  explicit Source(SourceParts parts)
      : parts_(std::move(parts)),
        ledger_(parts_.budget, parts_.strategy->shared(), parts_.lcore.groups.get()),
        transmission_(parts_, ledger_) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Starts a flow; the lcore's flow table must have room. `datagrams`: what it carries, outlives
  /// it; null: synthetic payload.
  Flow& open(const FlowClass& kind, const Event& event, Nanos now,
             DatagramSource* datagrams = nullptr);

  /// Datagrams have come for a flow that carries them: sends at once what is due.
  void wake(Flow& flow, Nanos now);

  /// The host has this budget from now on.
  void set_budget(Budget budget);

  /// Ends the flow: it sends one more round trip at its rate, in which its law gives its budget
  /// back to the links, and closes.
  void stop(Flow& flow, Nanos now);

  /// Records the outcome of a flow that is still open when the run ends, and stops it.
  void wind_down(Flow& flow, Nanos now);
  /// Forgets a flow at once, unfinished.
  void abandon(Flow& flow, Nanos now);

  /// Pipeline before on_answer(): prefetches the flow of this id, then the record of its oldest
  /// packet in flight, then the next record. Each call needs the lines that the call before has
  /// prefetched. expect() returns null if no flow can have the id.
  [[nodiscard]] const Flow* expect(uint32_t id) const { return parts_.lcore.flows.touch(id); }
  void expect_oldest(const Flow& flow) const {
    if (!flow.in_flight.empty()) parts_.lcore.records.prefetch(flow.in_flight.head());
  }
  void expect_next(const Flow& flow) const {
    if (flow.in_flight.empty()) return;
    const uint32_t next = parts_.lcore.records[flow.in_flight.head()].next;
    if (next != kNoRecord) parts_.lcore.records.prefetch(next);
  }
  /// Handles an answer to one of this host's flows, received on UDP port `port`.
  /// Returns whether it answers a packet in flight.
  bool on_answer(uint32_t id, const AckInfo& answer, uint8_t protocol, uint16_t port, Nanos now);

  /// The path may be back: a flow that has backed off times out now.
  void link_restored(Flow& flow, Nanos now);

  /// A flow that waits for an answer times out now, and again after its first time-out.
  void retry(Flow& flow, Nanos now);

  /// The timer of one of this host's flows has fired.
  void on_timer(Flow& flow, Nanos now);

  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

 private:
  void on_recovery(Flow& flow, Nanos now);
  void after_answer(Flow& flow, const Acknowledged& done, Nanos now);
  void send_due(Flow& flow, Nanos now);
  void note_delays(const Flow& flow);
  /// Sets the flow's timer to its earliest deadline.
  void arm(Flow& flow);
  void update_strategy(Flow& flow, Nanos now);
  void finish(Flow& flow, FlowEnd how, Nanos now);
  void report(Flow& flow, FlowEnd how, Nanos now);

  SourceParts parts_;
  Ledger ledger_;
  Transmission transmission_;
  uint32_t opened_ = 0;
};

}  // namespace turnpike::sender
