// SPDX-License-Identifier: BSD-3-Clause
// Accumulation-based control at the sender: Monaco's window, expected minimum rates, weights.
#pragma once

#include <limits>

#include "common/protocols/acc/header.h"
#include "common/protocols/acc/params.h"
#include "common/protocols/flow_law.h"

namespace turnpike::acc {

/// Steers the accumulation that does not come with the expected minimum rate x_e to its target,
/// once per round trip (Algorithm 1; a is the estimate, A its limit):
///
///     a_p = a (1 - x_e/x)      cwnd <- cwnd - kappa max(a_p - a_p*, a - A)
///
/// and by no more than a packet upwards, but that it doubles until first there is congestion.
///
/// An estimate measures the window of the round before its pair. The excess is taken from that
/// window (base: measured), and it is that window that doubles, so that each size is measured
/// before the next. Algorithm 1 uses the present window: it takes an excess twice, or finds
/// congestion with four times what the path holds, and a window that is then too small regains a
/// packet per round trip, in 100 Mbps and 600 ms 7500 of them.
///
/// Data is paced at cwnd/srtt; a loss halves the window that the packet was sent with. A flow whose
/// window is down to a packet lengthens the time between packets instead: twice with every estimate
/// above the target, and back to a round trip with the first below.
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
  /// The pair of the round: its turn to be sent, its probe sent, both sent.
  enum class Pair : uint8_t { kDue, kProbed, kSent };

  /// What a packet leaves with the transport.
  struct Note {
    double window;   // B, as it was sent
    uint16_t round;  // of its pair, 0: it is not in band
  };

  /// Whether this was the in-band packet of the round that is under way.
  [[nodiscard]] bool ends_round(const PacketNote& note) const {
    return pair_ == Pair::kSent && note.get<Note>().round == round_;
  }
  [[nodiscard]] Allowance allow(const FlowState& s, bool credible = true) const;
  void steer(const FlowState& s, double accumulation);
  [[nodiscard]] double used(const FlowState& s) const;

  double kappa_, target_, limit_;  // 1, B, B
  double minimum_rate_;            // B/s
  Base base_;
  double window_;  // packets until the handshake is over, then B
  double threshold_ = std::numeric_limits<double>::infinity();  // B, of slow start
  double measured_ = 0;  // B, window used in the round before, which the pair under way measures
  double pace_ = 1;      // below 1: this many packets per round trip, the window being one
  double sent_ = 0;      // B since the round began
  Nanos began_{0};       // the round
  Nanos paced_by_{0};    // srtt then
  uint16_t round_ = 0;   // never 0 once there was one
  Pair pair_ = Pair::kDue;
};

}  // namespace turnpike::acc
