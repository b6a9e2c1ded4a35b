// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of a burst's headers, column by column.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/protocols/fcp/header.h"

namespace turnpike::fcp {

/// Congestion headers of a burst, one field an array; row k is one packet. Filled row by row, then
/// reckoned with many rows at a time, as many as the machine's vectors hold; the results are the
/// same on all. In this order: put() the rows, decode(), fill in `paid`, total(), stamp().
class HeaderBatch {
 public:
  static constexpr size_t kMax = 64;  // rows

  /// Makes row `k` of a packet's header as it stands in the packet; rows are made in order, then
  /// `count` is set. `size` in B; 0 of a packet that is not admitted: it is judged but not counted.
  void put(size_t k, const uint8_t* header, uint32_t size) {
    static_assert(kRttOffset == 0 && kPriceOffset == 4 && kReserveOffset == 8 && kAgeOffset == 12);
    static_assert(kPreloadOffset == 16 && kBalanceOffset == 20 && kExchangeOffset == 24 &&
                  kSlotOffset == 28);
    std::memcpy(&fields_[k], header, sizeof fields_[k]);
    sizes[k] = static_cast<int32_t>(size);
  }
  /// A row that is credible and counts nothing, in place of a packet without a header.
  void put_padding(size_t k) {
    fields_[k] = {};
    fields_[k][6] = wire::swap_be32(std::bit_cast<uint32_t>(1.0F));
    sizes[k] = 0;
  }
  /// Row `k` of a SYN, whatever it says of a round trip: none is known yet.
  void clear_rtt(size_t k) { fields_[k][0] = 0; }

  /// From packets to columns, and from their byte order to the machine's.
  void decode();

  /// Takes `paid` as the price a round trip ago, NaN where that is not known, and leaves there the
  /// lesser of that and the balance; of `unknown` and the balance where it is not known; `today`
  /// where the packet knows no round trip.
  void cap_at_balance(double today, double unknown);

  struct Terms {
    double per_d;           // 1/s, d is the window
    double average_rtt;     // s, what a packet without a round trip is reckoned with
    double max_commitment;  // $/s that one packet may promise; more is clipped
  };
  /// Sums over the rows that are counted and credible (see fcp/link.h).
  struct Totals {
    double base = 0;      // sum of pi size
    double promised = 0;  // sum of pi size preload / rtt
    double rtt = 0;       // s, of those that know theirs
    double rtt_count = 0;
    uint64_t refused = 0;  // bit k: row k is not credible
    uint32_t clipped = 0;  // rows that promise more than a packet may
  };
  /// Needs `paid`; leaves each row's part of `promised` in the column of that name.
  Totals total(const Terms& terms);

  /// Adds the link's price to what each row's path costs so far: `price` afterwards, in the
  /// packets' byte order.
  void stamp(double link);
  /// Then into the packet's header.
  void write_price(size_t k, uint8_t* header) const {
    std::memcpy(header + kPriceOffset, &price[k], sizeof price[k]);
  }

  /// Rows that are done where many are done at a time: `count`, up to a multiple of eight.
  [[nodiscard]] size_t rows() const {
    return count <= kFew ? count : (count + kFilled - 1) / kFilled * kFilled;
  }
  [[nodiscard]] double balance_of(size_t k) const { return std::bit_cast<float>(balance[k]); }

  size_t count = 0;
  // Whether any row promises anything, known after decode(). Nearly always none does: then nothing
  // is divided, and `promised` is not filled in.
  bool promises = false;
  // Those from `count` to rows() are filled with what counts nothing.
  alignas(64) std::array<uint32_t, kMax> rtt_ns, age_ns;
  // Bits of binary32.
  alignas(64) std::array<uint32_t, kMax> price, reserve, preload, balance, exchange, slot;
  alignas(64) std::array<int32_t, kMax> sizes;  // B; 0: not counted
  alignas(64) std::array<double, kMax> paid;    // pi, $/B, to be filled in before total()
  alignas(64) std::array<double, kMax> promised;

 private:
  static constexpr size_t kFew = 2;  // rows that are done sooner one by one
  static constexpr size_t kFilled = 8;

  Totals total_of_few(const Terms& terms);
  Totals total_of_many(const Terms& terms);
  void judge(size_t rows, int32_t* sound) const;
  double sum_promises(size_t rows, const Terms& terms, const double* worth, uint32_t& clipped);

  alignas(64) std::array<std::array<uint32_t, 8>, kMax> fields_;  // as they stand in packets
};

}  // namespace turnpike::fcp
