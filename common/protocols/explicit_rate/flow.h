// SPDX-License-Identifier: BSD-3-Clause
// A sender that is at once as fast as its path's links say, the newcomer like the oldest.
#pragma once

#include <algorithm>

#include "common/protocols/explicit_rate/header.h"
#include "common/protocols/flow_law.h"

namespace turnpike::explicit_rate {

/// Paces at the rate that the newest ACK brought back; the SYN's answer is the first. Budgets and
/// losses change nothing.
class Flow : public FlowLaw {
 public:
  void set_target(Budget) override {}

  void write_syn(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override {
    store({}, header);
  }
  void write_data(const FlowState& s, uint32_t, uint8_t* header, PacketNote&) override {
    const int64_t rtt = std::clamp<int64_t>(s.rtt.count(), 0, UINT32_MAX);
    store({.rtt_ns = static_cast<uint32_t>(rtt)}, header);
  }
  void write_fin(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) override {
    write_data(s, size, header, note);
  }

  bool on_syn_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) override {
    return on_ack(s, note, header);
  }
  bool on_ack(const FlowState&, const PacketNote&, const uint8_t* header) override {
    const Header echoed = load(header);
    if (!credible(echoed)) return false;
    rate_ = echoed.rate;
    return true;
  }
  void on_ack_without_feedback(const FlowState&, const PacketNote&) override {}
  void on_loss(const FlowState&, const PacketNote&) override {}

  [[nodiscard]] BitRate rate(const FlowState&) const override {
    return from_bytes_per_second(rate_);
  }

 protected:
  [[nodiscard]] double flow_share() const { return rate_; }  // B/s

 private:
  double rate_ = 0;  // B/s
};

}  // namespace turnpike::explicit_rate
