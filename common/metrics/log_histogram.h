// SPDX-License-Identifier: BSD-3-Clause
// A histogram small enough for each of many thousands of customers.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace turnpike::metrics {

/// Weights of positive values in four buckets per octave over kOctaves octaves, with one bucket for
/// what is below and one for what is above. 680 B, no allocation; record() is O(1). One thread
/// writes, any thread reads.
class LogHistogram {
 public:
  static constexpr unsigned kSubBits = 2, kOctaves = 20;
  static constexpr size_t kBuckets = (size_t{kOctaves} << kSubBits) + 2;

  /// `least`: end of the first bucket, the unit of all others.
  explicit LogHistogram(double least) : least_(least) {}

  void record(double value, uint64_t weight = 1) {
    auto& bucket = buckets_[bucket_of(value / least_)];
    bucket.store(bucket.load(std::memory_order_relaxed) + weight, std::memory_order_relaxed);
    sum_.store(sum_.load(std::memory_order_relaxed) + value * static_cast<double>(weight),
               std::memory_order_relaxed);
  }

  /// A copy, or the difference between two.
  struct Values {
    std::array<uint64_t, kBuckets> weights{};
    double sum = 0;  // of values times weights
    double least = 1;

    /// The values recorded after `earlier`, an older copy.
    [[nodiscard]] Values since(const Values& earlier) const {
      Values later = *this;
      for (size_t i = 0; i < kBuckets; ++i) later.weights[i] -= earlier.weights[i];
      later.sum -= earlier.sum;
      return later;
    }
    [[nodiscard]] uint64_t total() const {
      uint64_t all = 0;
      for (const uint64_t w : weights) all += w;
      return all;
    }
    [[nodiscard]] double mean() const {
      const uint64_t all = total();
      return all == 0 ? 0 : sum / static_cast<double>(all);
    }
    /// The value that a share `q` of the weight does not exceed, 0 without values: the mean if that
    /// is in the same bucket, else the bucket's middle. So it is exact where all values are the
    /// same, and else off by 25 % at most, the width of a bucket. Below the first bucket's end and
    /// above the last one's begin it is only a bound.
    [[nodiscard]] double quantile(double q) const {
      const auto all = static_cast<double>(total());
      if (all == 0) return 0;
      const double rank = std::max(1.0, std::ceil(q * all));
      uint64_t seen = 0;
      size_t i = 0;
      while (i + 1 < kBuckets && static_cast<double>(seen += weights[i]) < rank) ++i;
      const double low = begin(i), average = mean();
      if (i == bucket_of(average / least)) return average;
      if (i == 0) return least;
      return i + 1 == kBuckets ? low : (low + begin(i + 1)) / 2;
    }
    /// Weight of the values below least x 2^octave.
    [[nodiscard]] uint64_t below(unsigned octave) const {
      uint64_t seen = 0;
      for (size_t i = 0; i <= size_t{octave} << kSubBits; ++i) seen += weights[i];
      return seen;
    }

   private:
    [[nodiscard]] double begin(size_t bucket) const {
      if (bucket == 0) return 0;
      const size_t at = bucket - 1, sub = at & ((size_t{1} << kSubBits) - 1);
      return std::ldexp(least * (1 + static_cast<double>(sub) / (1 << kSubBits)),
                        static_cast<int>(at >> kSubBits));
    }
  };

  [[nodiscard]] Values read() const {
    Values copy;
    for (size_t i = 0; i < kBuckets; ++i)
      copy.weights[i] = buckets_[i].load(std::memory_order_relaxed);
    copy.sum = sum_.load(std::memory_order_relaxed);
    copy.least = least_;
    return copy;
  }

 private:
  // An IEEE 754 double begins with its exponent, then its leading mantissa bits.
  static size_t bucket_of(double scaled) {
    if (!(scaled >= 1)) return 0;
    constexpr unsigned kMantissa = 52 - kSubBits;
    constexpr uint64_t kOne = std::bit_cast<uint64_t>(1.0) >> kMantissa;
    return std::min<size_t>((std::bit_cast<uint64_t>(scaled) >> kMantissa) - kOne + 1,
                            kBuckets - 1);
  }

  double least_;
  std::atomic<double> sum_{0};
  std::array<std::atomic<uint64_t>, kBuckets> buckets_{};
};

}  // namespace turnpike::metrics
