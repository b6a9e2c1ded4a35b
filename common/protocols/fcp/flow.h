// SPDX-License-Identifier: BSD-3-Clause
// FCP sender: spends its budget at the path's price, and announces every change of that budget one
// RTT before the rate changes.
#pragma once

#include <algorithm>

#include "common/protocols/fcp/deadline_request.h"
#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/params.h"
#include "common/protocols/flow_law.h"

namespace turnpike::fcp {

/// Budgets in $/s, prices in $/B. `granted` (the paper's w) is the confirmed budget, `target` (x)
/// the budget that the host assigns, `pending` the budget that packets in flight have promised
/// without an ACK yet. The rate is w / P with the newest price. w grows by a packet's promise at
/// the price paid for that packet, and only at its ACK, so that sum(price x size) stays within the
/// budget.
class Flow final : public FlowLaw {
 public:
  explicit Flow(const ParamValues& params)
      : cancel_share_(params[kCancelShare]),
        syn_packets_(static_cast<float>(params[kSynPackets])),
        dead_band_(static_cast<float>(params[kDeadBand])),
        first_round_(static_cast<float>(params[kFirstRound])),
        cancellation_(static_cast<Cancellation>(params[kCancellation])),
        conduct_(static_cast<Misbehaviour>(params[kConduct])),
        preload_limit_(static_cast<float>(params[kPreloadLimit])),
        deadline_(params) {}

  void set_target(Budget target) override { target_ = target.count(); }

  double write_syn(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;
  double write_data(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;
  double write_fin(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;

  Opening on_syn_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  Allowance on_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  Allowance on_ack_without_feedback(const FlowState&, const PacketNote&) override;
  Allowance on_loss(const FlowState&, const PacketNote&) override;
  Allowance on_timeout(const FlowState& s) override { return allow(s); }
  Allowance on_pause(const FlowState&, Nanos idle) override;

  [[nodiscard]] Budget pending() const { return Budget(pending_); }

 private:
  // A packet's promise: its ACK or loss settles exactly this amount.
  struct Promise {
    float paid, preload;
    uint32_t rtt_ns, size;
    [[nodiscard]] double amount() const {
      return rtt_ns == 0 ? 0 : double{paid} * size * preload / (rtt_ns * 1e-9);
    }
  };

  [[nodiscard]] Allowance allow(const FlowState&, bool credible = true) const;
  // $/s. Not below 0 where a return is in flight for a promise that was lost.
  [[nodiscard]] double committed() const { return std::max(granted_ + pending_, 0.0); }
  [[nodiscard]] double pace() const;
  [[nodiscard]] double preload_for(const FlowState&, uint32_t size, double rtt);
  [[nodiscard]] double last_round_preload(const FlowState&, uint32_t size, double rtt);
  void settle(const PacketNote&, bool delivered);
  [[nodiscard]] static bool take_price(const uint8_t* header, double& price);

  double target_ = 0;
  double granted_ = 0;
  double pending_ = 0;
  double returning_ = 0;   // the part of `pending_` that returns budget, not above 0
  double round_base_ = 0;  // `granted` when this round began
  Nanos round_end_{0};
  double price_ = 0;  // $/B of the last feedback; 0 before the handshake
  Nanos priced_{0};   // send time of the packet that brought price_
  double cancel_share_;
  Nanos cancelled_until_{0};  // kWhole: time by which its ACK is due; 0: not sent
  uint32_t promises_ = 0;     // packets in flight with a promise
  float syn_packets_;
  float dead_band_;
  float first_round_;
  float first_rtt_gain_ = 1;  // first_round_ until the first data packet is acknowledged
  bool stale_ = false;        // price_ is older than a long pause
  Cancellation cancellation_;
  Misbehaviour conduct_;
  float preload_limit_;
  DeadlineRequest deadline_;
};

}  // namespace turnpike::fcp
