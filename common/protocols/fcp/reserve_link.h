// SPDX-License-Identifier: BSD-3-Clause
// FCP with reserve prices at a router's egress link: the price at which announced demand meets
// capacity.
#pragma once

#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <span>

#include "common/protocols/fcp/capacity_margin.h"
#include "common/protocols/fcp/clearing_price.h"
#include "common/protocols/fcp/first_rounds.h"
#include "common/protocols/fcp/group_rates.h"
#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/law_clock.h"
#include "common/protocols/fcp/overbooking.h"
#include "common/protocols/fcp/params.h"
#include "common/protocols/fcp/past_charge.h"
#include "common/protocols/fcp/price_rule.h"
#include "common/protocols/fcp/promise_batch.h"
#include "common/protocols/fcp/promise_wheel.h"
#include "common/protocols/fcp/usual_price.h"
#include "common/protocols/link_law.h"
#include "common/time/time_series.h"

namespace turnpike::fcp {

/// Every packet promises a demand curve min(N, B / p) for a life L: the rate at which its flow will
/// send one round trip from now, in the packet's slot. The sum of all live curves is the demand at
/// the link one round trip from now. The price is the one at which this demand equals the capacity:
///
///     sum over promises of min(N, B / p) = max(C - m C - alpha q/d, floor C)     d = 2 average RTT
///
/// The margin m is 0 unless first rounds cause a queue (fcp/capacity_margin.h).
///
/// Traffic without a price is demand that no price lowers. A flow that sends all its data in its
/// first round cannot be repriced: the link books its bytes, and makes the flow wait until earlier
/// bookings have been carried. docs/control.md derives the law.
///
/// All amounts of money are in the link's currency: those in headers are converted when they are
/// read and when prices are stamped (GroupRates, HeaderBatch::convert).
///
/// Bounds that hold for any header: a data packet's curve asks for at most `growth` times the
/// packet, a SYN's for `first_bytes`; an unknown past price counts as today's. Excess is clipped
/// and counted (gauge `clipped`), never refused.
class ReserveLink final : public ClassLaw {
 public:
  ReserveLink(const ParamValues& params, unsigned shards, uint64_t seed = 1);

  /// B per lcore that sends to the link. A burst touches a few lines of it.
  static constexpr size_t state_bytes() { return sizeof(Shard); }

  void set_groups(std::span<const double> weights) override;
  bool take_settings(LinkLaw& made, std::span<const uint16_t> groups) override;
  uint64_t arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override;
  [[nodiscard]] double price(unsigned shard) const override {
    return shards_[shard].published.price.load(std::memory_order_relaxed);
  }
  size_t gauges(std::span<Gauge> out) const override;

  [[nodiscard]] Demand demand(unsigned index, double price) const override {
    return shards_[index].clearing.near(price);
  }
  [[nodiscard]] double average_rtt(unsigned index) const override {
    return shards_[index].average_rtt;
  }

 private:
  // One lcore's state; fields that other lcores read are on lines of their own.
  // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): it wastes one line
  struct alignas(64) Shard {
    LawClock clock;
    PromiseWheel promises;
    ClearingPrice clearing;  // of all shards' promises; those of others as of `refreshed`
    TimeSeries<> history;    // of the price
    PastCharge charge;       // for audits, if on
    Overbooking overbooking;
    double price = kMinPrice.count();
    double average_rtt = 0;      // s, over traffic; larger for flows that send less often
    double packet = 0;           // B, mean size weighted by bytes, at least a full packet's
    double overbooked = 1;       // overbooking's factor as of `refreshed`
    double faded_elsewhere = 0;  // B/s, sum of the other shards' `faded` as of `refreshed`
    FirstRounds first_rounds;
    FirstRounds::Booked booked_elsewhere;
    UsualPrice usual;
    CapacityMargin margin;
    double ceiling = std::numeric_limits<double>::infinity();  // $/B, bound of SYNs' knees
    // How much of the published sums has faded until the next publication: B since `aged`, and the
    // mean over the last average round trip, B/s. For bursts at regular intervals that is half of a
    // burst's promises; for bursts at random ones, such as an edge lets pass of a cheater, all.
    double fading = 0, faded = 0;
    Nanos last{0};           // last advance()
    Nanos aged{0};           // time of `refreshed`
    int64_t refreshed = -1;  // tick of the wheel
    uint64_t changed = 0;    // bit b: bucket b's sums differ from the published ones
    uint64_t random = 0;     // state of the noise's generator, never 0
    bool measured = false;   // some traffic carried its round trip

    struct alignas(64) Published {
      std::array<std::atomic<double>, Knees::kBuckets> rate{}, budget{};
      std::atomic<double> rtt_rate{0}, rtt_sum{0}, carried{0}, ending{0}, longer{0};
      std::atomic<double> faded{0};  // B/s
      std::atomic<double> price{kMinPrice.count()};
      std::atomic<uint64_t> clipped{0};  // promises
    } published;
  };

  [[nodiscard]] bool has(Part part) const { return without_ != part; }
  void advance(Shard& shard, unsigned index, const LinkState& link, double usable, Nanos now);
  void refresh(Shard& shard, unsigned index, const LinkState& link, Nanos now);
  void convert(Shard& shard, unsigned index, PromiseBatch& rows, std::span<const LinkPacket> burst,
               Nanos now);
  void charge_leniently(unsigned index, PromiseBatch& rows, std::span<const LinkPacket> burst);
  void open(Shard& shard, LinkPacket& packet, const Header& header, const LinkState& link);
  PromiseBatch::Totals on_data(Shard& shard, PromiseBatch& rows, double capacity, Nanos now) const;
  void begin_turns(Shard& shard, const LinkState& link);
  static void promise(Shard& shard, const Promise& made, double life);
  static void publish(Shard& shard);
  void expect_rtt(Shard& shard, const HeaderBatch& rows) const;
  static void take_packet_size(Shard& shard, uint64_t bytes, size_t packets, double window);

  ParamValues params_;
  double life_, growth_;  // parameters that each burst needs
  Part without_;
  Groups scope_;
  GroupRates groups_;  // empty unless scope_ is set
  std::span<Shard> shards_;
  std::unique_ptr<Shard[]> storage_;
};

}  // namespace turnpike::fcp
