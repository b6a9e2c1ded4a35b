// SPDX-License-Identifier: BSD-3-Clause
// FCP with reserve prices at the sender: every packet announces the rate that the flow is going to
// have one round trip later, and up to which price it wants that rate.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/params.h"
#include "common/protocols/flow_law.h"

namespace turnpike::fcp {

/// The rate is what the packets answered lately have promised, at the newest price P: the average
/// of min(R, x / P) over their slots, where x is the flow's share of the budget ($/s) and R the
/// rate that it wants (B/s). So links know it a round trip before it comes. It grows by `growth`
/// per round trip at most, and what it costs stays within what the host has left, at any time.
class ReserveFlow final : public FlowLaw {
 public:
  explicit ReserveFlow(const ParamValues& params)
      : syn_packets_(static_cast<float>(params[kSynPackets])),
        burst_(static_cast<float>(params[kFirstRound])),
        growth_(static_cast<float>(params[kFlowGrowth])),
        life_(static_cast<float>(params[kFlowPromiseLife])) {}

  void set_target(Budget target) override { target_ = static_cast<float>(target.count()); }

  double write_syn(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;
  double write_data(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;
  double write_fin(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;

  Opening on_syn_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  Allowance on_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  Allowance on_ack_without_feedback(const FlowState&, const PacketNote&) override;
  Allowance on_loss(const FlowState& s, const PacketNote&) override { return allow(floor_of(s)); }
  Allowance on_timeout(const FlowState&) override;
  Allowance on_pause(const FlowState&, Nanos idle) override;

  static constexpr double kDeaf = 4;  // s between two packets, at most, or eight round trips

 private:
  // What a packet has promised for its slot.
  struct Promised {
    float slot = 0;    // s
    float rate = 0;    // B/s that the flow wants then, its budget permitting
    float budget = 0;  // $/s
  };
  // Promises of packets that followed one another.
  struct Cell {
    float slot = 0;         // s altogether
    float rate_slot = 0;    // B
    float budget_slot = 0;  // $
  };
  static constexpr size_t kCells = 4;

  // B/s. A packet per round trip where the flow's share buys it, even if other flows of the host
  // have not given back what they have too much; else fewer, and one in kDeaf at least.
  [[nodiscard]] double floor_of(const FlowState& s) const {
    const double rtt = to_seconds(s.smoothed_rtt);
    const double heard =
        std::min(s.packet_size / rtt, target_ / std::max(price_, kMinPrice.count()));
    return std::max(heard, s.packet_size / std::max(kDeaf, 8 * rtt));
  }
  void remember(const Promised& promised, double span);
  [[nodiscard]] double promised_rate(double span) const;
  Allowance set_rate(const FlowState& s, double wanted);
  Allowance reprice(const FlowState& s);
  [[nodiscard]] Allowance allow(double floor) const {
    return {.rate = rate_,
            .floor = floor,
            .granted = committed_,
            .committed = committed_,
            .price = price_};
  }

  float target_ = 0;  // x, $/s
  float syn_packets_, burst_, growth_, life_;
  float wanted_ = 0;       // B/s, the largest rate that was of use so far
  float first_round_ = 0;  // B of it that are still to be sent
  uint32_t head_ = 0;      // cell that is being filled
  double price_ = 0;       // last feedback, 0 before the handshake
  Nanos priced_{0};        // when the packet left that brought it
  double rate_ = 0;        // B/s
  double committed_ = 0;   // $/s that it costs
  std::array<Cell, kCells> cells_{};
};

}  // namespace turnpike::fcp
