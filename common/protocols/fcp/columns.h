// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of a burst's headers, column by column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/protocols/fcp/header.h"

namespace turnpike::fcp {

/// Congestion headers of a burst, one field an array; row k is one packet. Filled row by row, then
/// reckoned with many rows at a time, as many as the machine's vectors hold; the results are the
/// same on all.
class Columns {
 public:
  static constexpr size_t kMost = 64;  // rows

  /// Takes a packet's header as it stands in the packet. `size` in B; one that is not admitted is
  /// judged but not counted.
  void add(const uint8_t* header, uint32_t size, bool admitted) {
    rtt_ns[count] = wire::load_be32(header + kRttOffset);
    price[count] = wire::load_f32(header + kPriceOffset);
    preload[count] = wire::load_f32(header + kPreloadOffset);
    balance[count] = wire::load_f32(header + kBalanceOffset);
    exchange[count] = wire::load_f32(header + kExchangeOffset);
    sizes[count] = size;
    counts[count] = admitted ? 1 : 0;
    ++count;
  }

  struct Terms {
    double d;               // s, the window
    double average_rtt;     // s, what a packet without a round trip is reckoned with
    double max_commitment;  // $/s that one packet may promise
  };
  /// Sums over the rows that are admitted and credible (see fcp/link.h).
  struct Totals {
    double base = 0;      // sum of pi size
    double promised = 0;  // sum of pi size preload / rtt
    double rtt = 0;       // s, of those that know theirs
    double rtt_count = 0;
    uint64_t refused = 0;  // bit k: row k is not credible
  };
  /// Needs `paid`; leaves each row's part of `promised` there.
  Totals total(const Terms& terms);

  /// Adds the link's price to what each row's path costs so far: `price` afterwards.
  void stamp(double link);

  size_t count = 0;
  // Rows from `count` on, up to a multiple of eight, are filled with what counts nothing.
  alignas(64) std::array<uint32_t, kMost> rtt_ns;
  alignas(64) std::array<float, kMost> price, preload, balance, exchange;
  alignas(64) std::array<double, kMost> sizes;
  alignas(64) std::array<int64_t, kMost> counts;  // 1: yes, 0: no
  alignas(64) std::array<double, kMost> paid;     // pi, $/B, to be filled in before total()
  alignas(64) std::array<double, kMost> promised;

 private:
  static constexpr size_t kFew = 2;  // rows that are done sooner one by one

  Totals total_of_few(const Terms& terms);
  Totals total_of_many(const Terms& terms);
  size_t pad();
};

}  // namespace turnpike::fcp
