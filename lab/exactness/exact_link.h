// SPDX-License-Identifier: BSD-3-Clause
// FCP's law at a link without approximations: the oracle for tests of the production law.
#pragma once

#include <vector>

#include "common/protocols/fcp/params.h"
#include "common/protocols/link_law.h"
#include "common/protocols/random.h"

namespace turnpike::lab {

/// Equations 2 to 4 over a list of all packets that arrived and all prices that were stamped. A
/// packet is in the window while its age is less than the current d. Its payment is computed with
/// the price at the exact nanosecond that it names. Each burst sums over the whole window: no
/// wheel, no bins, no subtraction. Supports one shard, and preloads that count as long as their
/// packets (fcp::Credit::kWindow), as in the paper's experiments.
class ExactPrice {
 public:
  /// `seed`: of the noise, as fcp::Link takes it.
  ExactPrice(ParamValues params, uint64_t seed)
      : params_(std::move(params)), random_(SplitMix64(seed, 0).next() | 1) {}

  /// Takes account of a burst as LinkLaw::arrive does, but stamps nothing.
  uint64_t take(std::span<const LinkPacket> burst, const LinkState& link, Nanos now);
  /// Price after the last burst, $/B.
  [[nodiscard]] double price() const { return price_; }
  /// Sets the price that packets at `now` were stamped with, or would have been if there were any.
  void set(Nanos now, double price, bool stamped);
  /// Relative distance of a price for the last burst from the exact one: from the nearest of the
  /// prices for windows up to a thousandth shorter or longer. d is itself twice an average over the
  /// window, and its error includes or excludes large contributions.
  [[nodiscard]] double difference(double price) const;

 private:
  struct Packet {
    Nanos at;
    double worth, promised;  // $, $/s
    double unpriced;         // B
    int64_t rtts, counted;   // ns; round trips up to and with this packet, and how many they are
  };
  struct Stamp {
    Nanos at;
    double price;
  };

  [[nodiscard]] double value_of(const LinkPacket& p, Nanos now) const;
  [[nodiscard]] double average_rtt(Nanos now) const;
  [[nodiscard]] double price_since(size_t first) const;
  [[nodiscard]] size_t first_in_window(Nanos now, Nanos d) const;

  ParamValues params_;
  std::vector<Packet> packets_;
  std::vector<Stamp> stamps_;
  double price_ = kMinPrice.count();
  Nanos d_{0};
  Nanos last_{0};  // burst
  LinkState link_{};
  double disturbed_ = 1;
  uint64_t random_;
};

/// The oracle in the real law's place.
class ExactLink final : public LinkLaw {
 public:
  ExactLink(const ParamValues& params, uint64_t seed);

  uint64_t arrive(unsigned shard, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override;
  size_t gauges(std::span<Gauge> out) const override;

 private:
  ExactPrice exact_;
};

}  // namespace turnpike::lab
