// SPDX-License-Identifier: BSD-3-Clause
// RCP at a router's egress link: one rate for every flow, as if the link were shared by a
// processor.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "common/protocols/link_law.h"
#include "common/protocols/rcp/params.h"

namespace turnpike::rcp {

/// Dukkipati's form of the law, once per T = min(d, interval):
///
///     R <- R (1 + T/d (alpha (g C - y) - beta q/d) / (g C))
///
/// with y the input rate of the last interval, q the queue and d the average round trip, weighted
/// by bytes and smoothed as the public code does: a mean m moves it by T/d of the difference, or,
/// where m is shorter, by (R/C) (m/d) (T/d), for a few short flows do not speak for all. A packet
/// is stamped with the least rate on its path. Every lcore counts for itself; the owner adds up.
class Link final : public LinkLaw {
 public:
  Link(const ParamValues& params, unsigned shards);

  uint64_t arrive(unsigned index, std::span<PricedPacket> burst, const LinkState& link,
                  Nanos now) override;
  Nanos update(const LinkState& link, Nanos now) override;
  size_t gauges(std::span<Gauge> out) const override;
  [[nodiscard]] Rewritten rewritten() const override;

 private:
  /// Since the start; written by one lcore, read by the owner.
  struct alignas(64) Shard {
    std::atomic<double> bytes{0};      // all that came, dropped or not
    std::atomic<double> rtt_bytes{0};  // of packets that name their round trip ...
    std::atomic<double> rtt{0};        // ... and that, s, times the bytes
  };
  struct Sums {
    double bytes = 0, rtt_bytes = 0, rtt = 0;
  };

  [[nodiscard]] Sums sums() const;
  void average(const Sums& since, double interval, double capacity);

  double alpha_, beta_, target_, first_rate_, least_rate_, interval_;
  double average_rtt_;           // s, the law's d
  std::atomic<double> rate_{0};  // B/s; 0 before the first update
  Nanos last_{0};
  bool started_ = false;
  Sums counted_;  // at the last update
  std::span<Shard> shards_;
  std::unique_ptr<Shard[]> storage_;
};

}  // namespace turnpike::rcp
