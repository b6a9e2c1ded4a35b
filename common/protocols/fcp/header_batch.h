// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic on the congestion headers of a burst, column by column.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "common/protocols/fcp/header.h"
#include "common/protocols/link_law.h"

namespace turnpike::fcp {

/// Congestion headers of a burst, one array per field; row k is one packet. Filled row by row, then
/// computed in vectors as wide as the machine's; results are the same on all machines:
///
///     rows.read<Syn::kWithoutRtt>(burst);
///     ...                                   // fill in rows.paid
///     const Totals totals = rows.total(terms);
///     rows.stamp(price, burst, totals.refused);
class HeaderBatch {
 public:
  static constexpr size_t kMax = 64;  // rows

  /// Sums over a burst.
  struct Arrivals {
    uint64_t bytes = 0;           // B, dropped packets included
    uint64_t admitted_bytes = 0;  // B
    uint64_t unpriced_bytes = 0;  // B of admitted packets without a header
    uint64_t opens = 0;           // bit k: packet k is a SYN
  };
  /// How a SYN counts, which has no round trip yet.
  enum class Syn : uint8_t { kWithoutRtt, kNotCounted };

  /// Reads the headers of a burst into rows. Packets that are not admitted are validated but not
  /// counted.
  template <Syn kSyn>
  Arrivals read(std::span<const LinkPacket> burst) {
    Arrivals sums;
    size_t unpriced = 0;
    usual = true;
    for (size_t k = 0; k < burst.size(); ++k) {
      const LinkPacket& p = burst[k];
      const uint32_t counted = p.admitted ? p.size : 0;
      sums.bytes += p.size;
      sums.admitted_bytes += counted;
      usual &= p.admitted;
      if (p.header == nullptr) [[unlikely]] {
        ++unpriced;
        sums.unpriced_bytes += counted;
        put_padding(k);
        continue;
      }
      put(k, p.header, counted);
      if (p.opens) [[unlikely]] {
        sums.opens |= uint64_t{1} << k;
        if constexpr (kSyn == Syn::kNotCounted) {
          sizes[k] = 0;
        } else {
          fields_[k][0] = 0;
        }
      }
    }
    usual &= unpriced == 0;
    count = unpriced < burst.size() ? burst.size() : 0;
    decode();
    return sums;
  }

  /// Expects the price one round trip ago in `paid`, NaN if unknown. Replaces it by the lesser of
  /// it (`unknown` for NaN) and the balance; by `today` for packets without a round trip.
  void cap_at_balance(double today, double unknown);

  struct Terms {
    double per_d;           // 1/s, d is the window
    double average_rtt;     // s, used for packets without a round trip
    double max_commitment;  // $/s that one packet may promise; more is clipped
  };
  /// Sums over the rows that are counted and credible (see fcp/link.h).
  struct Totals {
    double base = 0;      // sum of pi size
    double promised = 0;  // sum of pi size preload / rtt
    double rtt = 0;       // s, of packets with a round trip
    double rtt_count = 0;
    uint64_t refused = 0;  // bit k: row k is not credible
    uint32_t clipped = 0;  // rows that promise more than max_commitment
  };
  /// Needs `paid`. Fills in the column `promised`.
  Totals total(const Terms& terms);

  /// Adds the link's price to the price in each packet's header, unless the packet is dropped.
  /// `burst`: as read; `refused`: as total() returned it. Ends the use of the columns.
  void stamp(double link, std::span<const LinkPacket> burst, uint64_t refused) {
    add_price(link);
    const bool all = usual && refused == 0;
    for (size_t k = 0; k < burst.size(); ++k) {
      const LinkPacket& p = burst[k];
      if (all || (p.header != nullptr && p.admitted && (refused >> k & 1) == 0))
        std::memcpy(p.header + kPriceOffset, &price[k], sizeof price[k]);
    }
  }

  /// Rows computed: `count`, rounded up to a multiple of eight for vector loops.
  [[nodiscard]] size_t rows() const {
    return count <= kFew ? count : (count + kFilled - 1) / kFilled * kFilled;
  }
  [[nodiscard]] double balance_of(size_t k) const { return std::bit_cast<float>(balance[k]); }

  size_t count = 0;
  // Whether any row has a preload; set by decode(). Most bursts have none: then no division is
  // needed, and `promised` is not filled in.
  bool promises = false;
  // Whether every packet is admitted and has a header; set by read().
  bool usual = true;
  // Rows from `count` to rows() are padding, which counts nothing.
  alignas(64) std::array<uint32_t, kMax> rtt_ns, age_ns;
  // Bits of binary32.
  alignas(64) std::array<uint32_t, kMax> price, reserve, preload, balance, exchange, slot;
  alignas(64) std::array<int32_t, kMax> sizes;  // B; 0: not counted
  alignas(64) std::array<double, kMax> paid;    // pi, $/B; fill in before total()
  alignas(64) std::array<double, kMax> promised;

 private:
  static constexpr size_t kFew = 2;  // up to this many rows are faster one by one
  static constexpr size_t kFilled = 8;

  void put(size_t k, const uint8_t* header, uint32_t size) {
    static_assert(kRttOffset == 0 && kPriceOffset == 4 && kReserveOffset == 8 && kAgeOffset == 12);
    static_assert(kPreloadOffset == 16 && kBalanceOffset == 20 && kExchangeOffset == 24 &&
                  kSlotOffset == 28);
    std::memcpy(&fields_[k], header, sizeof fields_[k]);
    sizes[k] = static_cast<int32_t>(size);
  }
  // Fills row `k` of a packet without a header: credible, counts nothing.
  void put_padding(size_t k) {
    fields_[k] = {};
    fields_[k][6] = wire::swap_be32(std::bit_cast<uint32_t>(1.0F));
    sizes[k] = 0;
  }
  // Converts rows to columns in host byte order.
  void decode();
  // Leaves `price` in network byte order.
  void add_price(double link);

  Totals total_of_few(const Terms& terms);
  Totals total_of_many(const Terms& terms);
  void validate(size_t rows, int32_t* sound) const;
  double sum_promises(size_t rows, const Terms& terms, const double* worth, uint32_t& clipped);

  alignas(64) std::array<std::array<uint32_t, 8>, kMax> fields_;  // in network byte order
};

}  // namespace turnpike::fcp
