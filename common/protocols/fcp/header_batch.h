// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic on the congestion headers of a burst, column by column.
#pragma once

#include <array>
#include <bit>
#include <cmath>
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
///     rows.read<Counted::kAdmitted>(burst);
///     ...                                   // rows.convert(rates) if rows.foreign
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
  /// Which rows count. Of the law with commitments (eq 2) those of all admitted packets, a SYN as
  /// one without a round trip. Of that with promises those of all data packets: a flow goes on
  /// after a packet that is dropped.
  enum class Counted : uint8_t { kAdmitted, kData };

  /// Reads the headers of a burst into rows. Packets that do not count are validated.
  template <Counted kCounted>
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
      put(k, p.header, kCounted == Counted::kData ? p.size : counted);
      if (p.opens) [[unlikely]] {
        sums.opens |= uint64_t{1} << k;
        if constexpr (kCounted == Counted::kData) {
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

  /// Converts balances and reserves into the link's currency and fills in `value`: a unit of row
  /// k's money is worth exchange x rates[k] here. stamp() converts back. `rates`: of at least
  /// rows() elements, from kMinRate to kMaxRate. `border`: stamp() also replaces the packets'
  /// exchange rates by `value`, so that the links beyond use the same currency as this one.
  void convert(const float* rates, bool border);
  static constexpr float kMinRate = 1e-30F, kMaxRate = kMaxPrice;  // as credible() bounds it

  /// Adds past[k], in the link's currency, to row k's `charged`, except for SYNs; `past` has rows()
  /// elements. Where that is NaN
  /// it adds `unknown`. An infinite `unknown` means a link too young to charge more than balances.
  /// A sender pays a price of some time ago, when its money may have been worth more: `highest`
  /// converts it. Where that is infinite, the charge is no more than the balance.
  void charge(const double* past, double unknown);

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
    converted ? add_converted_price(link) : add_price(link);
    const bool all = usual && refused == 0;
    for (size_t k = 0; k < burst.size(); ++k)
      if (all || stamps(burst[k], refused >> k))
        std::memcpy(burst[k].header + kPriceOffset, &price[k], sizeof price[k]);
    if (charges || crosses) [[unlikely]]
      stamp_money(burst, refused);
  }

  /// Rows computed: `count`, rounded up to a multiple of eight for vector loops.
  [[nodiscard]] size_t rows() const {
    return count <= kFew ? count : (count + kFilled - 1) / kFilled * kFilled;
  }
  /// Row k as read; in the link's currency after convert(). Without the flag of first rounds.
  [[nodiscard]] Header header_of(size_t k) const {
    return {.rtt_ns = rtt_ns[k],
            .price = number_of(price[k]),
            .reserve = number_of(reserve[k]),
            .age_ns = age_ns[k],
            .preload = number_of(preload[k]),
            .balance = number_of(balance[k]),
            .exchange = number_of(exchange[k]),
            .charged = number_of(charged[k]),
            .slot = std::fabs(number_of(slot[k]))};
  }
  [[nodiscard]] double balance_of(size_t k) const { return number_of(balance[k]); }

  size_t count = 0;
  // Whether any row has a preload; set by decode(). Most bursts have none: then no division is
  // needed, and `promised` is not filled in.
  bool promises = false;
  // Whether every packet is admitted and has a header; set by read().
  bool usual = true;
  bool foreign = false;    // some exchange rate is not 1; set by read()
  bool converted = false;  // set by convert()
  bool crosses = false;    // likewise, at a border
  bool charges = false;    // set by charge()
  // Rows from `count` to rows() are padding, which counts nothing.
  alignas(64) std::array<uint32_t, kMax> rtt_ns, age_ns;
  // Bits of binary32.
  alignas(64) std::array<uint32_t, kMax> price, reserve, preload, balance, exchange, charged, slot;
  alignas(64) std::array<float, kMax> value;    // of a unit of the row's money here, if converted
  alignas(64) std::array<float, kMax> highest;  // value lately, likewise
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
  void decode_row(size_t k);
  void decode_many();
  // Both leave `price` in network byte order.
  void add_price(double link);
  void add_converted_price(double link);
  // Bit 0 of `refused`: the packet's.
  static bool stamps(const LinkPacket& p, uint64_t refused) {
    return p.header != nullptr && p.admitted && (refused & 1) == 0;
  }
  // Adds own[k], in the senders' money, to row k's `charged`.
  void add_charges(const double* own);
  // Both write `charged` and, at a border, the exchange rates; encode_money() leaves both fields in
  // `charged`, in network byte order.
  void stamp_money(std::span<const LinkPacket> burst, uint64_t refused);
  void encode_money();
  static float number_of(uint32_t bits) { return std::bit_cast<float>(bits); }

  Totals total_of_few(const Terms& terms);
  Totals total_of_many(const Terms& terms);
  void validate(size_t rows, int32_t* sound) const;
  double sum_promises(size_t rows, const Terms& terms, const double* worth, uint32_t& clipped);

  alignas(64) std::array<std::array<uint32_t, 8>, kMax> fields_;  // in network byte order
};

}  // namespace turnpike::fcp
