// SPDX-License-Identifier: BSD-3-Clause
// Promises of a burst's data packets, column by column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/protocols/fcp/demand_curve.h"
#include "common/protocols/fcp/header_batch.h"
#include "common/protocols/fcp/promise_wheel.h"

namespace turnpike::fcp {

/// Promises of a burst's data packets (see fcp/reserve_link.h), computed in vectors. In binary32,
/// as in PromiseWheel, for twice as many numbers per vector as binary64:
///
///     rows.read(burst);
///     ...                    // fill in rows.headers.paid with the prices `ago`
///     const Totals totals = rows.reckon(terms);
///     rows.add_to(wheel, totals);
///     rows.headers.stamp(price, burst, totals.refused);
class PromiseBatch {
 public:
  static constexpr size_t kMax = HeaderBatch::kMax;  // rows

  /// Reads the headers of a burst into rows, and computes `ago`. A SYN's row is validated but not
  /// counted.
  HeaderBatch::Arrivals read(std::span<const LinkPacket> burst) {
    const HeaderBatch::Arrivals sums = headers.read<HeaderBatch::Counted::kData>(burst);
    look_back();
    return sums;
  }

  struct Terms {
    PromiseWheel::Scale scale;
    float life;         // of a promise, in round trips
    float growth;       // bound of a packet's announced rate, as a multiple of its own
    float average_rtt;  // s
    float price;        // $/B, now
    float unknown;      // $/B, used where the link has no past price
    float large;        // B/s, least rate of a large flow
  };
  /// Sums over the rows that are counted and credible.
  struct Totals {
    float rate = 0;            // B/s, as promised at today's price
    uint32_t first_bytes = 0;  // of packets of first rounds
    uint32_t split = 0;        // rows that stand for two promises
    uint32_t clipped = 0;      // rows beyond `growth`
    uint64_t refused = 0;      // bit k: row k is not credible
  };
  /// Needs headers.paid. Fills in the columns from `places` on, up to headers.count.
  Totals reckon(const Terms& terms);

  /// Adds the promises to the wheel whose scale reckon() used. Returns their buckets, one bit each.
  uint64_t add_to(PromiseWheel& wheel, const Totals& totals) const;

  HeaderBatch headers;
  alignas(64) std::array<uint32_t, kMax> ago;     // ns since the stamping of the price paid
  alignas(64) std::array<uint32_t, kMax> places;  // in the wheel
  // As in Promise; all zero in rows that count nothing. A row may stand for two promises, which are
  // equal but for their ends.
  alignas(64) std::array<float, kMax> rate, budget, rtt_rate, rtt_sum;

 private:
  void look_back();
  // Whether row k is credible, 1 or 0.
  [[nodiscard]] int32_t validate(size_t k) const;
  void spread(size_t k, const Terms& terms, float size);
  void demand(size_t k, const Terms& terms);
  void count(size_t k, const Terms& terms, Totals& totals) const;

  Totals reckon_few(const Terms& terms);
  Totals reckon_many(const Terms& terms);

  alignas(64) std::array<int32_t, kMax> sound_;   // 1: credible
  alignas(64) std::array<float, kMax> next_;      // B/s one round trip from now
  alignas(64) std::array<int32_t, kMax> second_;  // ticks until the second promise ends; -1: none
};

}  // namespace turnpike::fcp
