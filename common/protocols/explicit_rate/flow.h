// SPDX-License-Identifier: BSD-3-Clause
// Sender that adopts its links' explicit rate at once; new and old flows get the same rate.
#pragma once

#include <algorithm>

#include "common/protocols/explicit_rate/header.h"
#include "common/protocols/flow_law.h"

namespace turnpike::explicit_rate {

/// Paces at the rate in the newest ACK, beginning with the SYN-ACK. Budgets and losses change
/// nothing.
class Flow : public FlowLaw {
 public:
  void set_target(Budget) override {}

  double write_syn(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override {
    store({}, header);
    return 0;
  }
  double write_data(const FlowState& s, uint32_t, uint8_t* header, PacketNote&) override {
    const int64_t rtt = std::clamp<int64_t>(s.rtt.count(), 0, UINT32_MAX);
    store({.rtt_ns = static_cast<uint32_t>(rtt)}, header);
    return 0;
  }
  double write_fin(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) override {
    return write_data(s, size, header, note);
  }

  Opening on_syn_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) override {
    return {on_ack(s, note, header)};
  }
  Allowance on_ack(const FlowState& s, const PacketNote&, const uint8_t* header) override {
    const bool taken = take_rate(header);
    return allow(s, taken);
  }
  Allowance on_ack_without_feedback(const FlowState& s, const PacketNote&) override {
    return allow(s);
  }
  Allowance on_loss(const FlowState& s, const PacketNote&) override { return allow(s); }
  Allowance on_timeout(const FlowState& s) override { return allow(s); }
  Allowance on_pause(const FlowState& s, Nanos /*idle*/) override { return allow(s); }

 protected:
  /// Adopts the rate of an echoed header. False: the header is invalid.
  bool take_rate(const uint8_t* header) {
    const Header echoed = load(header);
    if (!credible(echoed)) return false;
    rate_ = echoed.rate;
    return true;
  }
  [[nodiscard]] virtual Allowance allow(const FlowState& s, bool credible = true) const {
    return {.rate = rate_, .floor = packet_per_round_trip(s), .credible = credible};
  }
  [[nodiscard]] double flow_share() const { return rate_; }  // B/s

 private:
  double rate_ = 0;  // B/s
};

}  // namespace turnpike::explicit_rate
