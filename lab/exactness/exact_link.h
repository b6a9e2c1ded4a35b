// SPDX-License-Identifier: BSD-3-Clause
// FCP's law at a link with nothing approximated: the oracle that the real one is measured against.
#pragma once

#include <vector>

#include "common/protocols/fcp/params.h"
#include "common/protocols/link_law.h"
#include "common/protocols/random.h"

namespace turnpike::lab {

/// Equations 2 to 4 over a list of every packet that ever came and every price that was ever
/// stamped. A packet is in the window while its age is less than the current d, and what it is
/// worth is looked up at the very nanosecond it names. One sum over the whole window per burst:
/// no wheel, no bins, no subtraction. For one shard and preloads that count as long as their
/// packets (fcp::Credit::kWindow), which is what the paper's experiments have.
class ExactPrice {
 public:
  /// `seed`: of the noise, as fcp::Link takes it.
  ExactPrice(ParamValues params, uint64_t seed)
      : params_(std::move(params)), random_(SplitMix64(seed, 0).next() | 1) {}

  /// Takes account of a burst as LinkLaw::arrive does, but stamps nothing.
  uint64_t take(std::span<const LinkPacket> burst, const LinkState& link, Nanos now);
  /// Of the last burst.
  [[nodiscard]] double price() const { return price_; }
  /// The price that the packets of this moment really got, or would have got if there were any.
  void set(Nanos now, double price, bool stamped);
  /// How far a price for the last burst is from the exact one, relatively: from the nearest of
  /// those with windows up to a thousandth shorter or longer. For d is itself twice an average over
  /// the window, and what it is wrong by takes large contributions in or leaves them out.
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
