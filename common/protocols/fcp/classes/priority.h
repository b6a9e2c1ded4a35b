// SPDX-License-Identifier: BSD-3-Clause
// Priority: a class whose price is a fixed multiple of the link's (Paris Metro pricing).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/protocols/fcp/header.h"
#include "common/protocols/link_law.h"
#include "common/wire/bytes.h"

namespace turnpike::fcp {

/// At a price of `factor` times the link's, a budget buys 1/factor of the bandwidth. So the class's
/// packets are shown to the link's law with amounts of money divided by the factor, and the price
/// that the law stamps is multiplied by it, and so is its charge: the clearing price stays
/// consistent,
///
///     p = (I_standard + I_priority / factor) / C
class PriorityExchange {
 public:
  explicit PriorityExchange(double factor)
      : factor_(factor), inverse_(static_cast<float>(1 / factor)) {}

  /// Converts headers to the link's unit of money and removes the path's price. Leaves headers
  /// alone whose price is not credible: the law refuses them.
  void enter(std::span<LinkPacket> burst) {
    for (size_t k = 0; k < burst.size(); ++k) {
      const LinkPacket& p = burst[k];
      if (p.header == nullptr) continue;
      Amounts& own = saved_[k];
      own = {wire::load_f32(p.header + kPriceOffset), wire::load_f32(p.header + kReserveOffset),
             wire::load_f32(p.header + kBalanceOffset), load_charged(p.header)};
      if (!credible_amount(own.price)) continue;
      wire::store_f32(p.header + kPriceOffset, 0);
      wire::store_f32(p.header + kBalanceOffset, own.balance * inverse_);
      store_charged(p.header, 0);
      // A SYN's reserve is a rate.
      if (!p.opens) wire::store_f32(p.header + kReserveOffset, own.reserve * inverse_);
    }
  }

  /// Restores the headers, with the class's price added to the path's. Bit k of `refused`: packet k
  /// was not stamped.
  void leave(std::span<LinkPacket> burst, uint64_t refused) const {
    for (size_t k = 0; k < burst.size(); ++k, refused >>= 1) {
      const LinkPacket& p = burst[k];
      if (p.header == nullptr) continue;
      const Amounts& own = saved_[k];
      const double stamped = wire::load_f32(p.header + kPriceOffset);
      wire::store_f32(p.header + kBalanceOffset, own.balance);
      // Zero unless the law charges packets.
      const double charged = load_charged(p.header);
      store_charged(p.header, charged > 0 ? add_prices(own.charged, price(charged)) : own.charged);
      if (!p.opens) wire::store_f32(p.header + kReserveOffset, own.reserve);
      const bool priced = p.admitted && (refused & 1) == 0;
      const double path = priced ? add_prices(own.price, price(stamped)) : own.price;
      wire::store_f32(p.header + kPriceOffset,
                      static_cast<float>(std::min<double>(path, kMaxPrice)));
    }
  }

  /// The class's price at a link's price. A free link is free for every class.
  [[nodiscard]] double price(double link) const { return link > kFree ? factor_ * link : link; }

 private:
  struct Amounts {
    float price, reserve, balance, charged;  // as the packet brought them
  };

  double factor_;
  float inverse_;
  std::array<Amounts, 64> saved_;  // LinkLaw's largest burst
};

}  // namespace turnpike::fcp
