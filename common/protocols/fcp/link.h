// SPDX-License-Identifier: BSD-3-Clause
// FCP at a router's egress link: the budget that is coming in, divided by what the link can carry.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>

#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/header_batch.h"
#include "common/protocols/fcp/params.h"
#include "common/protocols/link_law.h"
#include "common/time/expiring_sum.h"
#include "common/time/fading_sum.h"
#include "common/time/time_series.h"

namespace turnpike::fcp {

/// The price of equation 2 over the incoming budget of equation 4, one evaluation per burst, so
/// that a price always includes the packets it is stamped on:
///
///     p = I / max(C' - alpha q/d, floor C')     I = S1/d + S2
///     S1 = sum pi size    S2 = sum pi size preload / rtt    over the last d seconds
///     pi = min(p(t - rtt), balance)
///
/// with d twice the average round trip. (S2 is another sum where parameter `credit` says so.) C' is
/// the capacity less what traffic without a price took in the same window: those packets load the
/// link but bring no budget.
class Link final : public LinkLaw {
 public:
  Link(ParamValues params, unsigned shards, uint64_t seed = 1);

  /// Of each lcore that sends to the link. A burst touches a few lines of it.
  static constexpr size_t state_bytes() { return sizeof(Shard); }

  uint64_t arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override;
  size_t gauges(std::span<Gauge> out) const override;

 private:
  // What is summed over the window, the fields of every slot.
  enum Field : size_t { kBase, kPromised, kRtt, kRttCount, kUnpriced, kFields };
  using Sums = std::array<double, kFields>;

  // What one lcore accumulates, and on a line of its own what the others read.
  struct alignas(64) Shard {
    ExpiringSum<kFields> window;
    FadingSum<> credit;  // of preloads, where they do not count as long as their packets
    TimeSeries<> history;
    double price = kMinPrice.count();
    Nanos d{0};
    double per_d = 0;                  // 1/s
    Nanos last{0};                     // arrival
    uint64_t random = 0;               // state of the noise, not 0 once it is seeded
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

  ParamValues params_;
  Credit credit_;
  PastPrice past_price_;
  std::span<Shard> shards_;
  std::unique_ptr<Shard[]> storage_;
};

}  // namespace turnpike::fcp
