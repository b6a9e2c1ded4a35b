// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic on the congestion headers of a burst, column by column.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/protocols/fcp/header.h"

namespace turnpike::fcp {

/// Congestion headers of a burst, one array per field; row k is one packet. Filled row by row, then
/// computed in vectors as wide as the machine's; results are the same on all machines. Call in this
/// order: put() the rows, decode(), fill in `paid`, total(), stamp().
class HeaderBatch {
 public:
  static constexpr size_t kMax = 64;  // rows

  /// Copies a packet's header, in network byte order, to row `k`. Fill rows in order, then set
  /// `count`. `size` in B; 0 for a packet that is not admitted: it is validated but not counted.
  void put(size_t k, const uint8_t* header, uint32_t size) {
    static_assert(kRttOffset == 0 && kPriceOffset == 4 && kReserveOffset == 8 && kAgeOffset == 12);
    static_assert(kPreloadOffset == 16 && kBalanceOffset == 20 && kExchangeOffset == 24 &&
                  kSlotOffset == 28);
    std::memcpy(&fields_[k], header, sizeof fields_[k]);
    sizes[k] = static_cast<int32_t>(size);
  }
  /// Fills row `k` of a packet without a header: credible, counts nothing.
  void put_padding(size_t k) {
    fields_[k] = {};
    fields_[k][6] = wire::swap_be32(std::bit_cast<uint32_t>(1.0F));
    sizes[k] = 0;
  }
  /// Clears the round trip of row `k`, a SYN's: it has none yet.
  void clear_rtt(size_t k) { fields_[k][0] = 0; }

  /// Converts rows to columns in host byte order.
  void decode();

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

  /// Adds the link's price to each row's `price`; `price` is in network byte order afterwards.
  void stamp(double link);
  /// Copies row `k`'s price into its packet's header. Call after stamp().
  void write_price(size_t k, uint8_t* header) const {
    std::memcpy(header + kPriceOffset, &price[k], sizeof price[k]);
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

  Totals total_of_few(const Terms& terms);
  Totals total_of_many(const Terms& terms);
  void judge(size_t rows, int32_t* sound) const;
  double sum_promises(size_t rows, const Terms& terms, const double* worth, uint32_t& clipped);

  alignas(64) std::array<std::array<uint32_t, 8>, kMax> fields_;  // in network byte order
};

}  // namespace turnpike::fcp
