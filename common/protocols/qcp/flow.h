// SPDX-License-Identifier: BSD-3-Clause
// QCP sender: sends at the links' rate per unit of weight times its weight, and announces that
// rate.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/protocols/explicit_rate/flow.h"
#include "common/protocols/qcp/header.h"
#include "common/protocols/qcp/params.h"

namespace turnpike::qcp {

/// Paces at R_j = w R of the newest feedback. A window of R_j RTT would stop the flow whenever R
/// falls, and links do not count flows that send nothing. Every packet carries sigma = w/R_j, which
/// is 1/R for a compliant flow. Losses change nothing.
class Flow : public explicit_rate::Flow {
 public:
  explicit Flow(const ParamValues& params)
      : weight_(params[kWeight]),
        first_packets_(params[kFirstWindow]),
        usual_rtt_(params[kUsualRtt]),
        start_(static_cast<Start>(params[kStart])),
        syn_(static_cast<Syn>(params[kSyn])),
        excess_(params[kConduct] == static_cast<double>(Misbehaviour::kHonest) ? 1 : 2),
        lie_(params[kConduct] == static_cast<double>(Misbehaviour::kLying) ? excess_ : 1) {}

  double write_syn(const FlowState& s, uint32_t size, uint8_t* header, PacketNote&) override {
    const double bytes = syn_ == Syn::kFlow ? size : std::max<double>(first_window(s), size);
    write({}, weight_ * usual_rtt_ / bytes, header);
    return 0;
  }
  double write_data(const FlowState& s, uint32_t, uint8_t* header, PacketNote&) override {
    const int64_t rtt = first_window_ > 0 ? 0 : s.rtt.count();
    write({.rtt_ns = static_cast<uint32_t>(std::clamp<int64_t>(rtt, 0, UINT32_MAX))},
          weight_ / own_rate(s) * lie_, header);
    return 0;
  }
  Opening on_syn_ack(const FlowState& s, const PacketNote&, const uint8_t* header) override {
    first_window_ = start_ == Start::kWindow ? first_window(s) : 0;
    const bool taken = take_rate(header);
    return {allow(s, taken)};
  }
  Allowance on_ack(const FlowState& s, const PacketNote&, const uint8_t* header) override {
    const bool taken = take_rate(header);
    if (taken) first_window_ = 0;
    return allow(s, taken);
  }

 protected:
  /// Writes the fields that this form of the header has.
  virtual void write(const explicit_rate::Header& common, double interval, uint8_t* header) {
    store({common, static_cast<float>(interval)}, header);
  }

 private:
  [[nodiscard]] Allowance allow(const FlowState& s, bool credible) const override {
    Allowance a{.rate = own_rate(s), .floor = packet_per_round_trip(s), .credible = credible};
    if (first_window_ > 0) {
      a.rate = std::numeric_limits<double>::infinity();
      a.window = std::max<double>(first_window_, s.packet_size);
    }
    return a;
  }
  /// The first window in B, at most the packets of the unsent data.
  [[nodiscard]] double first_window(const FlowState& s) const {
    return s.packet_size * std::min(first_packets_, std::ceil(s.unsent / s.packet_size));
  }
  /// SRTT in s, above 0.
  [[nodiscard]] static double round_trip(const FlowState& s) {
    return std::max(to_seconds(s.smoothed_rtt), 1e-9);
  }
  /// R_j in B/s, at least the one packet per RTT of Allowance::floor.
  [[nodiscard]] double own_rate(const FlowState& s) const {
    const double rtt = round_trip(s);
    if (first_window_ > 0) return first_window_ / rtt;
    return std::max(weight_ * flow_share() * excess_, s.packet_size / rtt);
  }

  double weight_, first_packets_, usual_rtt_;
  Start start_;
  Syn syn_;
  double excess_;            // of the rate over the links'
  double lie_;               // own rate over the one in the header
  double first_window_ = 0;  // B during the first round, then 0
};

/// Flow with the short header, which has no interval.
class ShortFlow final : public Flow {
 public:
  using Flow::Flow;

 private:
  void write(const explicit_rate::Header& common, double, uint8_t* header) override {
    explicit_rate::store(common, header);
  }
};

}  // namespace turnpike::qcp
