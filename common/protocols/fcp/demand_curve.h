// SPDX-License-Identifier: BSD-3-Clause
// Demand as a function of price: a promise's curve, and buckets of promises.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace turnpike::fcp {

/// A demand curve min(rate, budget / price). Up to its knee, the price budget / rate, it is
/// inelastic: it takes `rate` B/s. Above the knee it spends `budget` $/s. Curves whose knees lie in
/// the same octave of price are summed in one bucket, whose sum counts as one such curve. The last
/// bucket holds demand that no price lowers.
struct Knees {
  static constexpr size_t kBuckets = 64, kInelastic = kBuckets - 1;
  static constexpr int kLowestOctave = -60;  // 2^-60 $/B lies just below kMinPrice

  /// The bucket of a knee in $/B, not NaN; the nearest bucket for a knee out of range.
  static size_t bucket_of(double knee) {
    const auto exponent = static_cast<int>(std::bit_cast<uint64_t>(knee) >> 52 & 0x7ff) - 1023;
    return static_cast<size_t>(
        std::clamp(exponent - kLowestOctave, 0, static_cast<int>(kInelastic) - 1));
  }
  /// The same in binary32, for vector loops.
  static int32_t bucket_of(float knee) {
    constexpr int32_t kLast = static_cast<int32_t>(kInelastic) - 1;
    const auto exponent = static_cast<int32_t>(std::bit_cast<uint32_t>(knee) >> 23 & 0xff) - 127;
    const int32_t b = exponent - kLowestOctave;
    return b < 0 ? 0 : b > kLast ? kLast : b;
  }
};

/// The demand that one packet, or several of one bucket, add at a link.
struct Promise {
  size_t bucket = 0;   // of the knee
  float rate = 0;      // B/s
  float budget = 0;    // $/s
  float rtt_rate = 0;  // B/s of flows with a known round trip ...
  float rtt_sum = 0;   // ... and their sum of rate x round trip, B
};

}  // namespace turnpike::fcp
