// SPDX-License-Identifier: BSD-3-Clause
// XCP sender: a window that changes by the feedback of the path's links.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/protocols/flow_law.h"
#include "common/protocols/xcp/header.h"
#include "common/protocols/xcp/params.h"

namespace turnpike::xcp {

/// The window is a real number of bytes, at least one packet. Packets are not paced: ACKs clock
/// them, as in the paper. Losses are rare and halve the window, at most once per RTT.
class Flow final : public FlowLaw {
 public:
  explicit Flow(const ParamValues& params)
      : price_(params[kPrice]),
        first_window_(params[kFirstWindow]),
        claimed_rtt_(params[kClaimedRtt]),
        deaf_(params[kDeaf] > 0) {}

  void set_target(Budget) override {}

  double write_syn(const FlowState&, uint32_t, uint8_t* header, PacketNote&) override {
    store({}, header);
    return 0;
  }
  double write_data(const FlowState& s, uint32_t size, uint8_t* header, PacketNote&) override {
    const double rtt = std::clamp<double>(
        claimed_rtt_ * static_cast<double>(s.smoothed_rtt.count()), 0, UINT32_MAX);
    const double flow = price_ * rtt * 1e-9 * size / window(s);
    store({.rtt_ns = static_cast<uint32_t>(rtt),
           .flow = static_cast<float>(flow),
           .feedback = request(s, size, rtt * 1e-9)},
          header);
    return 0;
  }
  double write_fin(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) override {
    return write_data(s, size, header, note);
  }

  /// The SYN carries no window, so the SYN-ACK has no feedback.
  Opening on_syn_ack(const FlowState& s, const PacketNote&, const uint8_t*) override {
    window_ = first_window_ * s.packet_size;
    return {allow(s)};
  }
  Allowance on_ack(const FlowState& s, const PacketNote&, const uint8_t* header) override {
    const Header echoed = load(header);
    if (!credible(echoed) || echoed.rtt_ns == 0) return allow(s, false);
    const double change = echoed.feedback * (echoed.rtt_ns * 1e-9);
    // The feedback is the requested value: no link has set it.
    if (change > window_ + kMaxPackets * s.packet_size) return allow(s, false);
    window_ = std::max<double>(window_ + (deaf_ ? std::max(change, 0.0) : change), s.packet_size);
    return allow(s);
  }
  Allowance on_ack_without_feedback(const FlowState& s, const PacketNote&) override {
    return allow(s);
  }
  Allowance on_loss(const FlowState& s, const PacketNote&) override {
    if (s.now >= calm_until_) {
      window_ = std::max<double>(window_ / 2, s.packet_size);
      calm_until_ = s.now + s.rtt;
    }
    return allow(s);
  }
  Allowance on_timeout(const FlowState& s) override { return allow(s); }
  Allowance on_pause(const FlowState& s, Nanos /*idle*/) override { return allow(s); }

 private:
  [[nodiscard]] double window(const FlowState& s) const {
    return std::max<double>(window_, s.packet_size);
  }
  /// A packet's part of the change to the rate that the application can use, B/s: the first value
  /// of H_feedback, (r rtt - cwnd) by the packets of cwnd. `rtt` in s. Such a flow leaves the rest
  /// of its share to others at once.
  [[nodiscard]] float request(const FlowState& s, uint32_t size, double rtt) const {
    if (!std::isfinite(s.limit) || rtt <= 0) return Header{}.feedback;
    return static_cast<float>((s.limit - window(s) / rtt) * std::min(size / window(s), 1.0));
  }
  [[nodiscard]] Allowance allow(const FlowState& s, bool credible = true) const {
    return {.rate = std::numeric_limits<double>::infinity(),
            .floor = packet_per_round_trip(s),
            .window = window(s),
            .credible = credible};
  }

  static constexpr double kMaxPackets = 1e5;  // upper bound of one packet's feedback, packets

  double window_ = 0;  // B
  double price_, first_window_, claimed_rtt_;
  bool deaf_;
  Nanos calm_until_{0};  // losses until then belong to the last halving
};

}  // namespace turnpike::xcp
