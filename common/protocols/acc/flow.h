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
/// and by no more than a packet upwards, but that it doubles until first there is congestion. Data
/// is paced at cwnd/srtt; a loss halves the window. A flow whose window is down to a packet
/// lengthens the time between packets instead: twice with every estimate above the target, and back
/// to a round trip with the first below.
class Flow final : public FlowLaw {
 public:
  explicit Flow(const ParamValues& params);

  void set_target(Budget) override {}

  void write_syn(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override;
  void write_data(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) override;
  void write_fin(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override;
  [[nodiscard]] bool probe_due() const override { return pair_ == Pair::kDue; }
  void write_probe(const FlowState&, uint32_t size, uint8_t* header) override;

  bool on_syn_ack(const FlowState& s, const PacketNote&, const uint8_t*) override;
  bool on_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) override;
  void on_ack_without_feedback(const FlowState&, const PacketNote& note) override {
    if (ends_round(note)) pair_ = Pair::kDue;
  }
  void on_loss(const FlowState& s, const PacketNote& note) override;

  [[nodiscard]] BitRate rate(const FlowState& s) const override;
  [[nodiscard]] BitRate least_rate(const FlowState& s) const override { return rate(s); }
  /// A packet more than the window: it need not be a whole number of packets, so the pace is what
  /// holds data back. Were it the window, one that shrinks below such a number would leave a gap,
  /// always right before the pair that measures next, which would find less than there is.
  [[nodiscard]] double window(const FlowState& s) const override;

 private:
  /// The pair of the round: its turn to be sent, its probe sent, both sent.
  enum class Pair : uint8_t { kDue, kProbed, kSent };

  /// Whether this was the in-band packet of the round that is under way.
  [[nodiscard]] bool ends_round(const PacketNote& note) const {
    return pair_ == Pair::kSent && note.get<uint16_t>() == round_;
  }
  void steer(const FlowState& s, double accumulation);
  [[nodiscard]] double used(const FlowState& s) const;

  double kappa_, target_, limit_;  // 1, B, B
  double minimum_rate_;            // B/s
  double window_;                  // packets until the handshake is over, then B
  double threshold_ = std::numeric_limits<double>::infinity();  // B, of slow start
  double pace_ = 1;      // below 1: this many packets per round trip, the window being one
  double sent_ = 0;      // B since the round began
  Nanos began_{0};       // the round
  Nanos paced_by_{0};    // srtt then
  Nanos calm_until_{0};  // the last loss has had its effect by then
  uint16_t round_ = 0;   // never 0 once there was one
  Pair pair_ = Pair::kDue;
};

}  // namespace turnpike::acc
