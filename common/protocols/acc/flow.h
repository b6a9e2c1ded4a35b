// SPDX-License-Identifier: BSD-3-Clause
// Sender of accumulation-based control: Monaco's window, expected minimum rates, weights.
#pragma once

#include <limits>

#include "common/protocols/acc/header.h"
#include "common/protocols/acc/params.h"
#include "common/protocols/flow_law.h"

namespace turnpike::acc {

/// Steers the accumulation beyond that of the expected minimum rate x_e to its target, once per RTT
/// (Algorithm 1; a is the estimate, A its limit):
///
///     a_p = a (1 - x_e/x)      cwnd <- cwnd - kappa max(a_p - a_p*, a - A)
///
/// x is the rate at which the last round's data left (step 1). With the window by the present RTT
/// instead, a flow that expects 95 of 98 Mbps gets 94.8 instead of 95.0 (acc-fig4-avd).
///
/// It grows by at most one packet per RTT, but doubles until the first congestion.
///
/// An estimate measures the window of the round before its pair. The law subtracts the excess from
/// that window (base: measured), and doubles that window, so that it measures each size before the
/// next. Algorithm 1 uses the present window: it subtracts an excess twice, or detects congestion
/// at four times the path's capacity. The window is then too small and regains one packet per RTT,
/// of 7500 at 100 Mbps and 600 ms.
///
/// Paces data at cwnd/srtt. A loss halves the window at the time the packet was sent. At a window
/// of one packet, each estimate above the target doubles the time between packets instead, and the
/// first one below sets it back to one RTT.
class Flow final : public FlowLaw {
 public:
  explicit Flow(const ParamValues& params);

  void set_target(Budget) override {}

  double write_syn(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override;
  double write_data(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) override;
  double write_fin(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override;
  void write_probe(const FlowState&, uint32_t size, uint8_t* header) override;

  Opening on_syn_ack(const FlowState& s, const PacketNote&, const uint8_t*) override;
  Allowance on_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) override;
  Allowance on_ack_without_feedback(const FlowState& s, const PacketNote& note) override {
    if (ends_round(note)) pair_ = Pair::kDue;
    return allow(s);
  }
  Allowance on_loss(const FlowState& s, const PacketNote& note) override;
  Allowance on_timeout(const FlowState& s) override { return allow(s); }
  Allowance on_pause(const FlowState& s, Nanos /*idle*/) override { return allow(s); }

 private:
  /// State of the round's pair: to be sent next, probe sent, both sent.
  enum class Pair : uint8_t { kDue, kProbed, kSent };

  /// Data that the transport keeps with a packet.
  struct Note {
    double window;   // B, when the packet was sent
    uint16_t round;  // of its pair; 0: not an in-band packet
  };

  /// Whether the packet is the in-band packet of the present round.
  [[nodiscard]] bool ends_round(const PacketNote& note) const {
    return pair_ == Pair::kSent && note.get<Note>().round == round_;
  }
  [[nodiscard]] Allowance allow(const FlowState& s, bool credible = true) const;
  void steer(const FlowState& s, double accumulation);
  [[nodiscard]] double used(const FlowState& s) const;
  [[nodiscard]] double departure_rate(const FlowState& s, double used) const;  // B/s

  double kappa_, target_, limit_;  // 1, B, B
  double minimum_rate_;            // B/s
  Base base_;
  double window_;  // packets during the handshake, then B
  double threshold_ = std::numeric_limits<double>::infinity();  // B, of slow start
  double measured_ = 0;   // B, window used in the previous round, which the pair in flight measures
  double pace_ = 1;       // below 1: packets per RTT, at a window of one packet
  double sent_ = 0;       // B since the round began
  double departed_ = 0;   // B since the round began, without the last packet
  Nanos began_{0};        // time of the round's beginning
  Nanos departed_at_{0};  // time of the last packet
  Nanos paced_by_{0};     // srtt at that time
  uint16_t round_ = 0;    // 0: before the first round
  Pair pair_ = Pair::kDue;
};

}  // namespace turnpike::acc
