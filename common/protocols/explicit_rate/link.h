// SPDX-License-Identifier: BSD-3-Clause
// A link that advertises one rate to all its flows: RCP and QFCP, which differ in the rate's law.
#pragma once

#include <atomic>
#include <span>

#include "common/protocols/explicit_rate/header.h"
#include "common/protocols/explicit_rate/newcomers.h"
#include "common/protocols/link_law.h"
#include "common/protocols/shard_sums.h"

namespace turnpike::explicit_rate {

/// Counts arrivals and lowers every request to the link's rate; rate_after() is the scheme's law.
/// Every lcore counts its own packets; the link's owner adds up and sets the rate, which all lcores
/// read.
class Link : public LinkLaw {
 public:
  uint64_t arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) final;
  Nanos update(const LinkState& link, Nanos now) final;
  size_t gauges(std::span<Gauge> out) const final;

 protected:
  /// Arrivals since the last update.
  struct Interval {
    double length;   // s
    double bytes;    // dropped ones included
    double dropped;  // B
    double rtt;      // s, mean over packets that carry one, by bytes; 0: none
    Newcomers::Held held;
    double last_rate;  // B/s, advertised at the interval's end
  };

  /// `first_share`: a new link's first rate, as a share of its capacity; `average_rtt`: initial
  /// value, s.
  Link(unsigned shards, double first_share, double average_rtt,
       NewcomerRule rule = NewcomerRule::kUnlimited)
      : LinkLaw({.rewritten = {kRateOffset, kRateOffset + sizeof(float)}}),
        first_share_(first_share),
        average_rtt_(average_rtt),
        sums_(shards),
        rule_(rule),
        newcomers_(rule, shards) {}

  /// Of another link's settings: the rule for new flows.
  void take_rule(const Link& made) {
    rule_ = made.rule_;
    newcomers_.set_rule(rule_);
  }

  /// Returns the next rate, B/s. May call set_average_rtt() and set_flows().
  virtual double rate_after(const Interval& interval, const LinkState& link) = 0;
  /// Time until the next update, s.
  [[nodiscard]] virtual double period() const = 0;
  [[nodiscard]] double rate() const { return rate_.load(std::memory_order_relaxed); }

  [[nodiscard]] double average_rtt() const {  // s
    return average_rtt_.load(std::memory_order_relaxed);
  }
  void set_average_rtt(double s) { average_rtt_.store(s, std::memory_order_relaxed); }
  /// Number of flows that the rate is for; published as a gauge.
  void set_flows(double n) { flows_.store(n, std::memory_order_relaxed); }

 private:
  enum Field : size_t { kBytes, kDropped, kRttBytes, kRtt, kFields };

  double first_share_;
  std::atomic<double> average_rtt_;  // s
  std::atomic<double> rate_{0};      // 0 before the first update
  std::atomic<double> flows_{0};
  Nanos last_{0};
  ShardSums<kFields> sums_;
  NewcomerRule rule_;
  Newcomers newcomers_;
};

}  // namespace turnpike::explicit_rate
