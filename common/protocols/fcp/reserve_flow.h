// SPDX-License-Identifier: BSD-3-Clause
// FCP sender with reserve prices: every packet announces the flow's rate one RTT later, and the
// highest price at which the flow wants that rate.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "common/protocols/fcp/deadline_request.h"
#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/params.h"
#include "common/protocols/flow_law.h"

namespace turnpike::fcp {

/// The rate follows the promises of recently acknowledged packets at the newest price P: the
/// average of min(R, x / P) over their slots, where x is the flow's share of the budget ($/s) and R
/// the rate that it wants (B/s). So links know a rate one RTT before it comes. The rate grows at
/// most by the factor `growth` per RTT, and its cost always stays within the host's remaining
/// budget.
class ReserveFlow final : public FlowLaw {
 public:
  explicit ReserveFlow(const ParamValues& params)
      : syn_packets_(static_cast<float>(params[kSynPackets])),
        burst_(static_cast<float>(params[kFirstRound])),
        growth_(static_cast<float>(params[kFlowGrowth])),
        life_(static_cast<float>(params[kFlowPromiseLife])),
        deadline_(params) {}

  void set_target(Budget target) override { target_ = static_cast<float>(target.count()); }

  double write_syn(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;
  double write_data(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;
  double write_fin(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;

  Opening on_syn_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  Allowance on_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  Allowance on_ack_without_feedback(const FlowState&, const PacketNote&) override;
  Allowance on_loss(const FlowState& s, const PacketNote&) override {
    asked_ = false;
    return allow(floor_of(s));
  }
  Allowance on_timeout(const FlowState&) override;
  Allowance on_pause(const FlowState&, Nanos idle) override;

  static constexpr double kDeaf = 4;  // s, longest time between packets, or 8 RTTs if longer

 private:
  // A packet's promise for its slot.
  struct Promised {
    float slot = 0;    // s
    float rate = 0;    // B/s that the flow wants then, if its budget suffices
    float budget = 0;  // $/s
  };
  // Sum of the promises of consecutive packets.
  struct Cell {
    float slot = 0;         // s, sum of slots
    float rate_slot = 0;    // B, sum of rate x slot
    float budget_slot = 0;  // $, sum of budget x slot
  };
  static constexpr size_t kCells = 4;

  // B/s. One packet per RTT if the flow's share buys that, even while other flows of the host have
  // yet to return budget; otherwise fewer, but at least one packet in kDeaf.
  [[nodiscard]] double floor_of(const FlowState& s) const {
    const double rtt = to_seconds(s.smoothed_rtt);
    const double heard =
        std::min(s.packet_size / rtt, target_ / std::max<double>(price_, kMinPrice.count()));
    return std::max(heard, s.packet_size / std::max(kDeaf, 8 * rtt));
  }
  void take_round_trip(const FlowState& s);
  [[nodiscard]] double rtt() const { return rtt_ns_ * 1e-9; }          // s
  [[nodiscard]] double life() const { return double{life_} * rtt(); }  // of a promise, s
  void remember(const Promised& promised, double span);
  [[nodiscard]] double promised_rate(double span) const;
  Allowance set_rate(const FlowState& s, double wanted);
  Allowance reprice(const FlowState& s);
  double write_request(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note);
  Allowance restart(const FlowState& s);
  [[nodiscard]] Allowance allow(double floor) const {
    return {.rate = rate_,
            .floor = floor,
            .granted = committed_,
            .committed = committed_,
            .price = price_};
  }

  float target_ = 0;  // x, $/s
  float syn_packets_, burst_, growth_, life_;
  float wanted_ = 0;       // B/s, the largest rate that the flow could use so far
  float first_round_ = 0;  // B of the first round that are still to be sent
  uint32_t rtt_ns_ = 0;    // the round trip in headers, see take_round_trip()
  uint32_t timed_us_ = 0;  // when it was set, modulo 2^32
  uint16_t head_ = 0;      // index of the cell that remember() fills
  bool asked_ = false;     // for the rate of deadline_
  float rate_ = 0;         // B/s
  float price_ = 0;        // $/B of the last feedback; 0 before the handshake
  Nanos priced_{0};        // send time of the packet that brought price_
  double committed_ = 0;   // $/s, cost of the rate without the floor
  std::array<Cell, kCells> cells_{};
  DeadlineRequest deadline_;
};

}  // namespace turnpike::fcp
