// SPDX-License-Identifier: BSD-3-Clause
// FCP at a router's egress link: the incoming budget divided by the usable capacity.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>

#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/header_batch.h"
#include "common/protocols/fcp/params.h"
#include "common/protocols/fcp/past_charge.h"
#include "common/protocols/fcp/price_rule.h"
#include "common/protocols/link_law.h"
#include "common/time/expiring_sum.h"
#include "common/time/fading_sum.h"
#include "common/time/time_series.h"

namespace turnpike::fcp {

/// The price of equation 2 over the incoming budget of equation 4, evaluated once per burst, so
/// that a price always includes the packets on which it is stamped:
///
///     p = I / max(C' - alpha q/d, floor C')     I = S1/d + S2
///     S1 = sum pi size    S2 = sum pi size preload / rtt    over the last d seconds
///     pi = min(p(t - rtt), balance)
///
/// d is twice the average round trip. (With parameter `credit` = fading S2 is another sum.) C' is
/// the capacity less the rate of traffic without a price in the same window: such packets load the
/// link but bring no budget.
class Link final : public ClassLaw {
 public:
  Link(ParamValues params, unsigned shards, uint64_t seed = 1);

  /// B per lcore that sends to the link. A burst touches a few lines of it.
  static constexpr size_t state_bytes() { return sizeof(Shard); }

  bool take_settings(LinkLaw& made, std::span<const uint16_t> groups) override;
  uint64_t arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override;
  [[nodiscard]] double price(unsigned shard) const override {
    return shards_[shard].published.price.load(std::memory_order_relaxed);
  }
  size_t gauges(std::span<Gauge> out) const override;

  [[nodiscard]] Demand demand(unsigned index, double price) const override;
  [[nodiscard]] double average_rtt(unsigned index) const override {
    return to_seconds(shards_[index].d) / params_[kWindow];
  }

 private:
  // Fields summed over the window, in every slot.
  enum Field : size_t { kBase, kPromised, kRtt, kRttCount, kUnpriced, kFields };
  using Sums = std::array<double, kFields>;

  // One lcore's state; fields that other lcores read are on a line of their own.
  struct alignas(64) Shard {
    ExpiringSum<kFields> window;
    FadingSum<> credit;  // of preloads, for Credit::kFading
    TimeSeries<> history;
    PastCharge charge;  // for audits, if on
    double price = kMinPrice.count();
    double unpriced = 0;  // B/s of all shards' traffic without a price
    Nanos d{0};
    double per_d = 0;                  // 1/s
    Nanos last{0};                     // of the last burst
    uint64_t random = 0;               // state of the noise's generator, never 0
    std::atomic<uint64_t> clipped{0};  // promises beyond max_commitment

    struct alignas(64) Published {
      std::array<std::atomic<double>, kFields> sums{};
      std::atomic<double> price{kMinPrice.count()};
      std::atomic<double> incoming{0};
    } published;
    static_assert(sizeof(Published) == 64, "all that the others read, and nothing else");

    void set_window(Nanos window) {
      d = window;
      per_d = 1 / to_seconds(window);
    }
  };

  [[nodiscard]] Sums own_sums(const Shard& shard) const;
  [[nodiscard]] Sums add_other_shards(Sums sums, unsigned shard) const;
  [[nodiscard]] Nanos window_of(const Sums& all) const;  // d
  void value(const Shard& shard, HeaderBatch& rows, Nanos now) const;
  static void fade(Shard& shard, const HeaderBatch& rows, double average_rtt);
  [[nodiscard]] double price_of(double incoming, double unpriced, double per_d,
                                const LinkState& link) const;
  [[nodiscard]] double usable(double capacity, double per_d, const LinkState& link) const {
    return std::max(capacity - params_[kAlpha] * link.queue * per_d, params_[kFloor] * capacity);
  }

  ParamValues params_;
  Credit credit_;
  PastPrice past_price_;
  std::span<Shard> shards_;
  std::unique_ptr<Shard[]> storage_;
};

}  // namespace turnpike::fcp
