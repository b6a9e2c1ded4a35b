// SPDX-License-Identifier: BSD-3-Clause
// QCP at a router's egress link: the capacity divided by a count of flows.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/protocols/explicit_rate/newcomers.h"
#include "common/protocols/flow_rates.h"
#include "common/protocols/link_law.h"
#include "common/protocols/qcp/header.h"
#include "common/protocols/qcp/params.h"
#include "common/protocols/random.h"
#include "common/protocols/shard_sums.h"

namespace turnpike::qcp {

/// Updates once per d: the average round trip for equations 4 and 16, two of them for 12 and 13,
/// unless the file sets an interval:
///
///     N = 1/d sum size_k sigma_k      R = (alpha C - beta q/d) / N
///
/// over the packets k of the last d. sigma = w/R_j is in the packet's header; a flow that sends at
/// its rate counts w, whatever its round trip. Traffic without a header counts as if it sent at the
/// last R (equation 13), and so does all traffic in the simplified form.
///
/// New flows are limited (explicit_rate/newcomers.h). Held flows count, too, until their packets
/// do, on average after half an interval.
///
/// Every lcore counts its own packets; the link's owner adds up and sets the rate that all read.
class Link : public LinkLaw {
 public:
  Link(const ParamValues& params, unsigned shards, uint64_t seed = 1)
      : Link(params, shards, seed, Form::kLong) {}

  bool take_settings(LinkLaw& made, std::span<const uint16_t> groups) final;
  uint64_t arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) final;
  Nanos update(const LinkState& link, Nanos now) final;
  /// Packets are demoted from class 0 to 1.
  [[nodiscard]] double weight(unsigned queue_class) const final {
    return queue_class == 0 ? std::numeric_limits<double>::infinity() : 1;
  }
  size_t gauges(std::span<Gauge> out) const final;

 protected:
  enum class Form { kShort, kLong };
  Link(const ParamValues& params, unsigned shards, uint64_t seed, Form form);

 private:
  enum Field : size_t {
    kBytes,
    kFlowTime,
    kRttBytes,
    kRtt,
    kPoliced,
    kFields
  };  // kFlowTime: s, N d

  /// An lcore's random number generator.
  struct alignas(64) Dice {
    explicit Dice(SplitMix64 own) : random(own) {}
    SplitMix64 random;
  };

  static constexpr double kRttGain = 0.125;  // of the average round trip, per interval

  /// Counts a packet; the rate of its flow where it is above `compliant`, else 0; B/s.
  double excessive_rate(unsigned index, const LinkPacket& p, double compliant, Nanos now);
  /// Section 10.4 for a packet of a flow with such a rate; whether it is dropped or demoted.
  /// `room`: B free in the queue of low priority.
  bool police(unsigned index, LinkPacket& p, double measured, double compliant, double& room);
  [[nodiscard]] double flow_time(const LinkPacket& p, const Header& h, double own) const;
  [[nodiscard]] double period() const;  // d, s
  [[nodiscard]] double rate_for(double flows, double length, const LinkState& link) const;

  double alpha_, beta_, interval_, most_rtt_, floor_;
  Form form_;
  Count count_;
  Police police_;
  explicit_rate::NewcomerRule rule_;
  std::atomic<double> average_rtt_;            // s
  std::atomic<double> rate_{0};                // B/s; 0 before the first update
  std::atomic<double> max_compliant_rate_{0};  // B/s, bound of compliant flows' rates
  std::atomic<double> flows_{0};               // N
  std::atomic<double> policed_{0};             // B since the start
  std::array<double, 16> past_rates_{};        // B/s, of the last intervals, as a ring
  uint64_t updates_ = 0;
  bool rtt_known_ = false;
  Nanos last_{0};
  ShardSums<kFields> sums_;
  explicit_rate::Newcomers newcomers_;
  std::vector<Dice> dice_;
  std::vector<FlowRates> rates_;  // by shard; empty without policing
};

/// For the short header, which has no rate of the flow's own: equation 14.
class ShortLink final : public Link {
 public:
  // Without policing, so that the seed is not used.
  ShortLink(const ParamValues& params, unsigned shards) : Link(params, shards, 1, Form::kShort) {}
};

}  // namespace turnpike::qcp
