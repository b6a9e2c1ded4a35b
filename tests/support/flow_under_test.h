// SPDX-License-Identifier: BSD-3-Clause
// A flow's law fed by hand, with the decision that the transport would keep of it.
#pragma once

#include "common/protocols/flow_law.h"

namespace turnpike {

/// Passes events to the law and keeps its newest decision. Events with feedback return whether the
/// law found it credible.
template <class Law>
class FlowUnderTest {
 public:
  explicit FlowUnderTest(const auto&... params) : law(params...) {}

  void set_target(Budget target) { law.set_target(target); }

  void write_syn(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) {
    allowance.committed = law.write_syn(s, size, header, note);
  }
  void write_data(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) {
    allowance.committed = law.write_data(s, size, header, note);
  }
  void write_probe(const FlowState& s, uint32_t size, uint8_t* header) {
    law.write_probe(s, size, header);
    allowance.probe = false;
  }

  bool on_syn_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) {
    opening = law.on_syn_ack(s, note, header);
    return take(opening.allowance);
  }
  bool on_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) {
    return take(law.on_ack(s, note, header));
  }
  void on_ack_without_feedback(const FlowState& s, const PacketNote& note) {
    take(law.on_ack_without_feedback(s, note));
  }
  void on_loss(const FlowState& s, const PacketNote& note) { take(law.on_loss(s, note)); }
  void on_timeout(const FlowState& s) { take(law.on_timeout(s)); }
  void on_pause(const FlowState& s, Nanos idle) { take(law.on_pause(s, idle)); }

  /// bit/s and B.
  [[nodiscard]] double rate_bps() const { return 8 * allowance.rate; }
  [[nodiscard]] double window() const { return allowance.window; }

  Law law;
  Allowance allowance;
  Opening opening;

 private:
  bool take(const Allowance& decided) {
    allowance = decided;
    return allowance.credible;
  }
};

}  // namespace turnpike
