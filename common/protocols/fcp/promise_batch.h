// SPDX-License-Identifier: BSD-3-Clause
// What the data packets of a burst promise, column by column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/protocols/fcp/demand_curve.h"
#include "common/protocols/fcp/header_batch.h"
#include "common/protocols/fcp/promise_wheel.h"

namespace turnpike::fcp {

/// Promises of a burst's data packets (see fcp/reserve_link.h), reckoned many rows at a time. In
/// binary32, which is what a PromiseWheel holds and twice as many numbers to a vector as binary64.
/// In this order: put the rows into `headers`, headers.decode(), look_back(), fill in headers.paid
/// with the prices at that time, reckon().
class PromiseBatch {
 public:
  static constexpr size_t kMax = HeaderBatch::kMax;  // rows

  /// From headers to `ago`.
  void look_back();

  struct Terms {
    PromiseWheel::Scale scale;
    float life;         // of a promise, in round trips
    float growth;       // times a packet's own rate, what it may ask for
    float average_rtt;  // s
    float unknown;      // $/B, worth of a price that the link has no record of
  };
  /// Sums over the rows that are counted and credible.
  struct Totals {
    float rate = 0;            // B/s, as promised at today's price
    uint32_t first_bytes = 0;  // of packets of first rounds
    uint32_t clipped = 0;      // rows that ask for more than a packet may
    uint64_t refused = 0;      // bit k: row k is not credible
  };
  /// Needs headers.paid; fills in the columns from `places` on, up to headers.count.
  Totals reckon(const Terms& terms);

  /// For the wheel whose scale they were reckoned with.
  [[nodiscard]] PromiseWheel::Many promises() const {
    return {headers.count, places.data(),   rate.data(),
            budget.data(), rtt_rate.data(), rtt_sum.data()};
  }

  HeaderBatch headers;
  alignas(64) std::array<uint32_t, kMax> ago;     // ns since the price that a packet pays was made
  alignas(64) std::array<uint32_t, kMax> places;  // in the wheel
  // As in Promise; all zero of rows that count nothing.
  alignas(64) std::array<float, kMax> rate, budget, rtt_rate, rtt_sum;

 private:
  // Of row k.
  [[nodiscard]] int32_t judge(size_t k) const;
  void spread(size_t k, const Terms& terms, float size);
  void demand(size_t k, const Terms& terms);
  void count(size_t k, const Terms& terms, Totals& totals) const;

  Totals reckon_few(const Terms& terms);
  Totals reckon_many(const Terms& terms);

  alignas(64) std::array<int32_t, kMax> sound_;  // 1: credible
  alignas(64) std::array<float, kMax> next_;     // B/s one round trip from now
};

}  // namespace turnpike::fcp
