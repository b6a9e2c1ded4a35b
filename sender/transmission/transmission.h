// SPDX-License-Identifier: BSD-3-Clause
// Sends a host's packets: which packet is next, when it is due, and its frame.
#pragma once

#include <cstdint>
#include <span>

#include "sender/connection/source_parts.h"
#include "sender/pacing/ledger.h"
#include "sender/pacing/spend_meter.h"

namespace turnpike::sender {

/// Used by the lcore of the host's Source alone.
class Transmission {
 public:
  static constexpr unsigned kMaxBurst = 8;  // packets of one flow at one expiry
  static constexpr Nanos kRetry = 10_us;    // after a packet found no room

  /// Both outlive it.
  Transmission(SourceParts& parts, Ledger& ledger) : parts_(parts), ledger_(ledger) {}

  /// Sends the packets that are due by the flow's pacer and fit its window, and plans the next.
  /// Returns false if the flow is closing and all of its packets have been acknowledged.
  [[nodiscard]] bool send_due(Flow& flow, Nanos now);

  /// Sends the oldest lost packet. Returns the B sent, 0 if there was no room.
  uint32_t send_again(Flow& flow, Nanos now) { return retransmit(flow, state_of(flow, now)); }

  /// Sends a SYN or a FIN. Returns false if there was no room.
  bool send_control(Flow& flow, wire::Kind kind, Nanos now);

  /// Paces the flow at its allowance from now on.
  void set_rate(Flow& flow, Nanos now);

  /// Plans the next packet, after an event may have opened the window or brought data.
  void wake(Flow& flow, Nanos now);

 private:
  /// The fields in which frames of a flow differ.
  struct Outgoing {
    wire::Kind kind;
    uint64_t sequence;
    uint32_t size;  // B of the IP datagram
  };

  /// The flow might have sent for `idle` and did not.
  void paused(Flow& flow, Nanos idle, Nanos now);
  static void plan_sending(Flow& flow, Nanos not_before);

  /// A record for the flow's next packet; kNoRecord, and counted, if there is none for it. A flow
  /// may hold as many as are free (dynamic threshold, Choudhury and Hahne), so that one whose
  /// packets all vanish leaves records to the lcore's other flows.
  uint32_t take_record(const Flow& flow);
  uint32_t send_next(Flow& flow, FlowState& state);
  uint32_t send_new(Flow& flow, const FlowState& state);
  uint32_t send_datagrams(Flow& flow, const FlowState& state);
  /// Seals the payload of the flow's next packet, whose common header is written, and adds its
  /// words to `sum`. False: the packet must not be sent.
  static bool seal(const Flow& flow, std::span<uint8_t> payload, const uint8_t* common,
                   uint64_t& sum);
  void sent(Flow& flow, uint32_t index, Nanos now);
  uint32_t retransmit(Flow& flow, const FlowState& state);
  bool transmit(Flow& flow, uint32_t index, const FlowState& state);
  /// Writes a packet's headers behind UDP, its congestion header by `write_congestion`. Returns the
  /// sum of their words, not folded.
  template <class Write>
  uint64_t write_headers(Flow& flow, const Outgoing& out, uint8_t* payload, Nanos now,
                         Write&& write_congestion);
  /// Makes a frame with synthetic payload; false: no room for it.
  template <class Write>
  bool put_frame(Flow& flow, const Outgoing& out, Nanos now, Write&& write_congestion);
  /// A packet of headers alone, right before the data packet of that sequence; if it finds no
  /// room, it goes before the next one.
  void send_probe(Flow& flow, uint64_t sequence, Nanos now);
  void write_congestion(Flow& flow, SentPacket& r, uint8_t* header, const FlowState& state);

  [[nodiscard]] FlowState state_of(const Flow& flow, Nanos now) const {
    return flow.state(now, ledger_.headroom(flow), parts_.line_rate);
  }
  void update(const Flow& flow, FlowState& state) const {
    flow.update(state, ledger_.headroom(flow));
  }

  /// Postpones the flow's next packet while the host owes too much. Whether it did.
  bool waits_for_money(Flow& flow, Nanos now);

  SourceParts& parts_;
  Ledger& ledger_;
  SpendMeter meter_;  // of flows that share the budget
};

}  // namespace turnpike::sender
