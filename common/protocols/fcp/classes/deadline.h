// SPDX-License-Identifier: BSD-3-Clause
// Deadline: admits flows that ask for a rate, at a fixed price, while the rates fit.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>

#include "common/protocols/fcp/header.h"
#include "common/protocols/link_law.h"
#include "common/protocols/relaxed.h"
#include "common/time/expiring_sum.h"
#include "common/time/fading_sum.h"

namespace turnpike::fcp {

/// The rates granted to a class's flows. A flow asks for a rate R with the preload R rtt / size of
/// one packet; until its traffic has arrived for a window d, twice the average round trip, the
/// request stands for it:
///
///     granted = bytes of the last d / d + requests, each full for a round trip, then fading over d
///
/// A packet that asks for more than the cap leaves goes to best effort, and so does a packet whose
/// flow accepts a price above the fixed one (its reserve): its flow was refused before.
class Grants {
 public:
  /// `cap` in B/s, `price` in $/B, `first_rtt` in s: round trip until packets carry one.
  Grants(double cap, double price, double first_rtt, unsigned shards)
      : cap_(cap),
        price_(price),
        first_rtt_(first_rtt),
        shards_(std::make_unique<Shard[]>(shards)),
        count_(shards) {}

  /// Takes cap and price; granted rates stay.
  void take_settings(const Grants& made) {
    cap_ = made.cap_;
    price_ = made.price_;
    first_rtt_ = made.first_rtt_;
  }

  /// Call before the packets of a burst, and without packets at housekeeping.
  void advance(unsigned index, Nanos now) {
    Shard& s = shards_[index];
    s.now = now;
    const auto sums = s.window.totals();
    s.measured = sums[kRttCount] >= 0.5;
    if (s.measured) s.set_window(window(sums[kRtt] / sums[kRttCount]));
    s.window.advance(now, s.d);
    s.requests.advance(now, s.d);
    s.own = own(s);
    s.others = 0;
    for (unsigned i = 0; i < count_; ++i)
      if (i != index) s.others += read(shards_[i].published);
    write(s.published, s.own);
  }

  enum class Decision : uint8_t { kGranted, kBestEffort, kRefused };
  /// Counts an admitted packet of the class; kRefused: its header is not credible.
  Decision decide(unsigned index, const LinkPacket& p) {
    Shard& s = shards_[index];
    const Header h = load(p.header);
    if (!credible(h)) return Decision::kRefused;
    if (!p.opens && (h.rtt_ns == 0 || h.reserve == 0 || h.reserve > price_ * kSame))
      return Decision::kBestEffort;
    if (p.opens && h.preload > 0) return Decision::kBestEffort;
    const double size = p.size, rtt = h.rtt_ns * 1e-9;
    const double asks = p.opens || h.preload == 0 ? 0 : size * h.preload / rtt;
    const double present = s.own + s.others;
    if (asks > 0 ? present + asks > cap_ : present > kTolerance * cap_) {
      write(s.refused, read(s.refused) + 1);
      return Decision::kBestEffort;
    }
    if (!p.admitted) return Decision::kGranted;
    if (!p.opens && !s.measured) {  // the first packet sets the window
      s.measured = true;
      s.set_window(window(rtt));
      s.window.advance(s.now, s.d);
      s.requests.advance(s.now, s.d);
    }
    s.arrived[kBytes] += size;
    s.arrived[kRtt] += rtt;
    s.arrived[kRttCount] += p.opens ? 0 : 1;
    s.own += size * s.per_d;
    if (asks != 0) {
      // A packet returns at most the rate that its own bytes stand for.
      const double change = std::max(asks, -size * s.per_d);
      s.requests.add(change, Nanos(h.rtt_ns));
      s.own = std::max(s.own + change, 0.0);
    }
    return Decision::kGranted;
  }
  /// Call after the packets of a burst.
  void settle(unsigned index) {
    Shard& s = shards_[index];
    if (s.arrived[kBytes] <= 0) return;
    s.window.add(s.arrived);
    s.arrived = {};
    write(s.published, own(s));
  }

  /// Adds the fixed price to the path's, and to the packets' charges if the link audits.
  void stamp(std::span<LinkPacket> burst, bool audits) const {
    for (const LinkPacket& p : burst) {
      if (p.header == nullptr || !p.admitted) continue;
      const double path = wire::load_f32(p.header + kPriceOffset);
      wire::store_f32(p.header + kPriceOffset, static_cast<float>(add_prices(path, price_)));
      if (audits && !p.opens) store_charged(p.header, add_prices(load_charged(p.header), price_));
    }
  }

  /// B/s granted by all shards.
  [[nodiscard]] double granted() const {
    double sum = 0;
    for (unsigned i = 0; i < count_; ++i) sum += read(shards_[i].published);
    return sum;
  }
  /// Packets that asked for more than the cap left.
  [[nodiscard]] double refused() const {
    double sum = 0;
    for (unsigned i = 0; i < count_; ++i) sum += read(shards_[i].refused);
    return sum;
  }
  [[nodiscard]] double price() const { return price_; }

 private:
  static constexpr double kSame = 1.001;      // prices this close are equal: binary32 rounds
  static constexpr double kTolerance = 1.25;  // of the cap, for traffic that never asked
  enum Field : size_t { kBytes, kRtt, kRttCount, kFields };

  // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): lines of other lcores are apart
  struct alignas(64) Shard {
    ExpiringSum<kFields, 256> window;
    FadingSum<> requests;
    Nanos now{0}, d{200'000'000};
    double per_d = 5;                              // 1/s
    bool measured = false;                         // packets of the window carried their round trip
    double own = 0, others = 0;                    // B/s granted by this shard and by others
    std::array<double, kFields> arrived{};         // of the burst, not yet in the window
    alignas(64) std::atomic<double> published{0};  // B/s
    std::atomic<double> refused{0};

    void set_window(Nanos length) {
      d = length;
      per_d = 1 / to_seconds(length);
    }
  };

  [[nodiscard]] Nanos window(double rtt) const {
    return from_seconds(2 * std::clamp(rtt > 0 ? rtt : first_rtt_, 1e-6, 2.0));
  }
  [[nodiscard]] static double own(const Shard& s) {
    return std::max(s.window.totals()[kBytes] * s.per_d + s.requests.total(), 0.0);
  }

  double cap_, price_, first_rtt_;
  std::unique_ptr<Shard[]> shards_;
  unsigned count_;
};

}  // namespace turnpike::fcp
