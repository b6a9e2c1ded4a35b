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
#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/law_clock.h"
#include "common/protocols/fcp/overbooking.h"
#include "common/protocols/fcp/params.h"
#include "common/protocols/fcp/promise_batch.h"
#include "common/protocols/fcp/promise_wheel.h"
#include "common/protocols/fcp/usual_price.h"
#include "common/protocols/link_law.h"
#include "common/time/time_series.h"

namespace turnpike::fcp {

/// Every packet promises a demand curve min(N, B / p) for a life L: what its flow is going to send,
/// one round trip from now, in the slot that is the packet's. The sum of the curves alive is the
/// demand that meets the link one round trip from now, and the price is the one at which that
/// demand is the capacity:
///
///     sum over promises of min(N, B / p) = max(C - m C - alpha q/d, floor C)     d = 2 average RTT
///
/// The margin m is 0 unless first rounds cause a queue (fcp/capacity_margin.h).
///
/// Traffic without a price is demand that no price lowers. A flow that sends all it has in its
/// first round cannot be repriced: the link books its bytes, and has it wait until what was booked
/// before has been carried. docs/control.md derives all of it.
///
/// Bounds, whatever a header says: a packet's curve asks for at most `growth` times the packet, a
/// SYN's for `first_bytes`; a price that the link has no record of counts as today's. What exceeds
/// them is clipped and counted (gauge `clipped`), never refused.
class ReserveLink final : public LinkLaw {
 public:
  ReserveLink(const ParamValues& params, unsigned shards, uint64_t seed = 1);

  /// B for each lcore that sends to the link. A burst touches a few lines of them.
  static constexpr size_t state_bytes() { return sizeof(Shard); }

  uint64_t arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override;
  size_t gauges(std::span<Gauge> out) const override;

 private:
  // What one lcore keeps, and on lines of its own what the others read.
  // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): it wastes one line
  struct alignas(64) Shard {
    LawClock clock;
    PromiseWheel promises;
    ClearingPrice clearing;  // of all shards' promises; the others' as of `refreshed`
    TimeSeries<> history;    // of the price
    Overbooking overbooking;
    double price = kMinPrice.count();
    double average_rtt = 0;  // s, of the traffic; longer for flows that send less often
    double overbooked = 1;   // overbooking's factor as of `refreshed`
    FirstRounds first_rounds;
    FirstRounds::Booked booked_elsewhere;
    UsualPrice usual;
    CapacityMargin margin;
    double ceiling = std::numeric_limits<double>::infinity();  // $/B, of knees
    Nanos last{0};                                             // arrival
    Nanos aged{0};                                             // when `refreshed`
    int64_t refreshed = -1;                                    // tick of the wheel
    uint64_t changed = 0;   // bit b: bucket b's sums are not those published
    uint64_t random = 0;    // state of the noise, not 0 once it is seeded
    bool measured = false;  // there was traffic that told its round trip

    struct alignas(64) Published {
      std::array<std::atomic<double>, Knees::kBuckets> rate{}, budget{};
      std::atomic<double> rtt_rate{0}, rtt_sum{0}, carried{0}, whole{0}, part{0};
      std::atomic<double> price{kMinPrice.count()};
      std::atomic<uint64_t> clipped{0};  // promises
    } published;
  };

  [[nodiscard]] bool has(Part part) const { return without_ != part; }
  void advance(Shard& shard, unsigned index, const LinkState& link, double usable, Nanos now);
  void refresh(Shard& shard, unsigned index, const LinkState& link, Nanos now);
  void open(Shard& shard, LinkPacket& packet, const Header& header, const LinkState& link);
  PromiseBatch::Totals listen(Shard& shard, PromiseBatch& rows, Nanos now) const;
  void begin(Shard& shard, const LinkState& link);
  static void promise(Shard& shard, const Promise& made, double life);
  static void publish(Shard& shard);

  ParamValues params_;
  double life_, growth_;  // parameters that each burst needs
  Part without_;
  std::span<Shard> shards_;
  std::unique_ptr<Shard[]> storage_;
};

}  // namespace turnpike::fcp
