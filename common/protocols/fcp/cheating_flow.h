// SPDX-License-Identifier: BSD-3-Clause
// A sender that cheats, for experiments: FCP's law between lies about its feedback and its packets.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>

#include "common/protocols/fcp/cheating_params.h"
#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/params.h"
#include "common/protocols/flow_law.h"

namespace turnpike::fcp {

/// The lowest price of the last `span`, in eighths of it.
class LowestPrice {
 public:
  explicit LowestPrice(Nanos span) : part_(span / static_cast<int64_t>(kParts)) {}

  /// Returns the lowest price that was added within the last span, `price` included.
  float add(float price, Nanos now);

 private:
  static constexpr size_t kParts = 8;
  struct Part {
    int64_t number = std::numeric_limits<int64_t>::min();  // time in parts; the least: empty
    float price = 0;
  };
  Nanos part_;
  std::array<Part, kParts> parts_{};
};

/// Chooses the lies of the present moment: all, none while the flow rests, or one at a time.
///
/// Under `adapt` the flow first tries honesty and each of its lies for kTrial periods, then keeps
/// to the one that delivered most packets in the last period of its trial. When a period delivers
/// less than half of that, such as after a router has found the lie, the trials begin again.
class LieSchedule {
 public:
  LieSchedule(const ParamValues& values, size_t first);

  /// Lies in use at `now`. The first call begins the schedule.
  LieSet at(Nanos now);
  /// A packet was delivered.
  void delivered() { ++packets_; }

  /// Periods of a trial. In the first of them, packets and prices are still of the lie before.
  static constexpr int kTrial = 2;

 private:
  void review();
  void try_next();

  LieSet lies_;
  Nanos after_, for_, rest_, period_;
  bool begun_ = false;
  Nanos begin_{0};  // of the lies
  // Under `adapt`; a single bit is a lie, 0 is honesty.
  LieSet lie_ = 0, best_ = 0;
  uint64_t best_packets_ = 0;
  bool trying_ = true;
  int periods_ = 0;       // since lie_ was last set
  Nanos review_{0};       // end of the present period
  uint64_t packets_ = 0;  // delivered in it
};

/// Decorates the law of a preset. The inner law gets falsified feedback and budgets, and its
/// packets are falsified afterwards, so that lies combine. Fields stay within credible(), since
/// links drop a packet with others. With honest parameters every packet and every allowance is the
/// inner law's.
///
/// A cheating flow allocates when it is made; its calls do not. The ledger of its host records its
/// commitment like that of other flows, but does not bound it under `budget_lie`.
class CheatingFlow final : public FlowLaw {
 public:
  using MakeLaw = FlowLaw*(const ParamValues&, void* storage);
  /// `make` makes the inner law; `first`: index of kPriceLie in `params`.
  CheatingFlow(const ParamValues& params, size_t first, MakeLaw& make);
  ~CheatingFlow() override;
  CheatingFlow(const CheatingFlow&) = delete;
  CheatingFlow& operator=(const CheatingFlow&) = delete;

  void set_target(Budget target) override;

  double write_syn(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;
  double write_data(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;
  double write_fin(const FlowState&, uint32_t size, uint8_t* header, PacketNote&) override;

  Opening on_syn_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  Allowance on_ack(const FlowState&, const PacketNote&, const uint8_t* header) override;
  Allowance on_ack_without_feedback(const FlowState&, const PacketNote&) override;
  Allowance on_loss(const FlowState&, const PacketNote&) override;
  Allowance on_timeout(const FlowState&) override;
  Allowance on_pause(const FlowState&, Nanos idle) override;

 private:
  struct State;
  // Each of these applies the lies that are in use now, if any.
  void follow_schedule(Nanos now);
  [[nodiscard]] FlowState falsified(const FlowState&) const;
  [[nodiscard]] Allowance falsified(Allowance) const;
  void falsify_feedback(const uint8_t* header, Nanos now, uint8_t* out);
  void falsify_packet(uint8_t* header, uint32_t size, bool data) const;

  std::unique_ptr<State> s_;
};

}  // namespace turnpike::fcp
