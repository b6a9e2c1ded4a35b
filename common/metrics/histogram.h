// SPDX-License-Identifier: BSD-3-Clause
// A histogram of fixed size with a relative error of at most 1.6 %.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

namespace turnpike::metrics {

/// The buckets of a histogram on the heap, in segments of `N` cells. A segment that has no values
/// is not written, so that its memory is not touched.
template <template <class> class Cell, size_t Segments, size_t N>
class Buckets {
  using Count = Cell<uint64_t>;
  // Memory of malloc() then holds such objects.
  static_assert(std::is_trivially_copy_constructible_v<Count> &&
                std::is_trivially_destructible_v<Count> && Segments <= 64);

 public:
  Buckets() : cells_(static_cast<Count*>(std::malloc(Segments * N * sizeof(Count)))) {
    if (cells_ == nullptr) throw std::bad_alloc();
  }
  Buckets(const Buckets& other) : Buckets() { *this = other; }
  Buckets& operator=(const Buckets& other) {
    used_ = other.used_;
    for (size_t s = 0; s < Segments; ++s)
      if (used(s)) std::copy_n(other.cells_.get() + s * N, N, cells_.get() + s * N);
    return *this;
  }
  ~Buckets() = default;

  void add(size_t i, uint64_t n) {
    if (!used(i / N)) [[unlikely]]
      begin(i / N);
    cells_.get()[i].add(n);
  }
  [[nodiscard]] uint64_t operator[](size_t i) const {
    return used(i / N) ? cells_.get()[i].get() : 0;
  }

 private:
  struct Free {
    void operator()(Count* cells) const { std::free(cells); }
  };
  [[nodiscard]] bool used(size_t segment) const { return (used_.get() >> segment & 1) != 0; }
  // A reader that sees the bit sees the zeros, too.
  void begin(size_t segment) {
    std::uninitialized_fill_n(cells_.get() + segment * N, N, Count(0));
    used_.set(used_.get() | uint64_t{1} << segment);
  }

  Count used_{0};  // bit s: segment s has values
  std::unique_ptr<Count, Free> cells_;
};

/// Counts of uint64 values in buckets: 64 per octave, so that a bucket's width is at most 1/64 of
/// its values; values below 128 have one each. record() is O(1) and does not allocate. About 30 KB
/// of the heap, of which only octaves that have values are touched. `Cell` holds each number: see
/// the two aliases below.
template <template <class> class Cell>
class BasicHistogram {
 public:
  static constexpr unsigned kSubBits = 6;
  static constexpr size_t kSub = size_t{1} << kSubBits;
  static constexpr size_t kBuckets = kSub * (64 - kSubBits + 1);

  /// `times` values of that size; at least one.
  void record(uint64_t value, uint64_t times = 1) {
    // Stores the bucket last: a reader that sees the bucket sees the rest of its record, too.
    if (value < min_.get()) min_.set(value);
    if (value > max_.get()) max_.set(value);
    sum_.add(static_cast<double>(value) * static_cast<double>(times));
    count_.add(times);
    buckets_.add(bucket(value), times);
  }

  /// Adds all values of `other`. Also copies a histogram that is being written: the copy is
  /// consistent in itself, up to the record in progress.
  template <template <class> class OtherCell>
  void merge(const BasicHistogram<OtherCell>& other) {
    uint64_t added = 0;
    for (size_t i = 0; i < kBuckets; ++i) {
      const uint64_t n = other.bucket_count(i);
      if (n == 0) continue;
      buckets_.add(i, n);
      added += n;
    }
    if (added == 0) return;
    count_.add(added);
    sum_.add(other.sum());
    min_.set(std::min(min_.get(), other.min()));
    max_.set(std::max(max_.get(), other.max()));
  }

  /// The values recorded after `earlier`, an older copy of this histogram. Minimum and maximum are
  /// exact to a bucket, the sum up to rounding.
  [[nodiscard]] BasicHistogram since(const BasicHistogram& earlier) const {
    BasicHistogram later;
    for (size_t i = 0; i < kBuckets; ++i) {
      const uint64_t n = buckets_[i] - earlier.bucket_count(i);
      if (n == 0) continue;
      later.buckets_.add(i, n);
      later.count_.add(n);
      later.min_.set(std::min(later.min_.get(), middle(i)));
      later.max_.set(std::max(later.max_.get(), middle(i)));
    }
    later.sum_.add(sum() - earlier.sum());
    return later;
  }

  [[nodiscard]] uint64_t count() const { return count_.get(); }
  [[nodiscard]] double sum() const { return sum_.get(); }
  /// Exact; 0 without values, like mean() and quantile().
  [[nodiscard]] uint64_t min() const { return count() == 0 ? 0 : min_.get(); }
  [[nodiscard]] uint64_t max() const { return max_.get(); }
  [[nodiscard]] double mean() const {
    return count() == 0 ? 0 : sum() / static_cast<double>(count());
  }

  /// The smallest value that at least a fraction `q` of all values do not exceed, to within half
  /// a bucket (0.8 %). q <= 0 is the minimum, q >= 1 the maximum, both exact.
  [[nodiscard]] uint64_t quantile(double q) const {
    if (!(q > 0)) return min();
    if (q >= 1) return max();
    const double rank = std::max(1.0, std::ceil(q * static_cast<double>(count())));
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets; ++i) {
      seen += buckets_[i];
      if (static_cast<double>(seen) >= rank) return std::clamp(middle(i), min(), max());
    }
    return max();
  }

  /// Number of values of at most `value`. Values of its bucket count if the bucket's middle does.
  [[nodiscard]] uint64_t count_up_to(uint64_t value) const {
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets && middle(i) <= value; ++i) seen += buckets_[i];
    return seen;
  }

  [[nodiscard]] uint64_t bucket_count(size_t i) const { return buckets_[i]; }

 private:
  // Bucket by the leading seven bits and the number of bits after them.
  static size_t bucket(uint64_t value) {
    const int rest =
        std::max(0, static_cast<int>(std::bit_width(value)) - static_cast<int>(kSubBits + 1));
    return static_cast<size_t>(rest) * kSub + (value >> rest);
  }
  static uint64_t middle(size_t bucket) {
    if (bucket < 2 * kSub) return bucket;
    const size_t rest = bucket / kSub - 1;
    return (kSub + bucket % kSub) << rest | uint64_t{1} << (rest - 1);
  }

  Cell<uint64_t> count_{0};
  Cell<double> sum_{0};
  Cell<uint64_t> min_{std::numeric_limits<uint64_t>::max()};
  Cell<uint64_t> max_{0};
  Buckets<Cell, kBuckets / kSub, kSub> buckets_;
};

template <class T>
class PrivateCell {
 public:
  PrivateCell(T v = 0) : value_(v) {}
  void add(T n) { value_ += n; }
  void set(T v) { value_ = v; }
  [[nodiscard]] T get() const { return value_; }

 private:
  T value_;
};

/// One writer, so a load and a store suffice instead of a read-modify-write. Release and acquire
/// cost nothing on x86 and order a bucket after the rest of its record.
template <class T>
class SharedCell {
 public:
  SharedCell(T v = 0) : value_(v) {}
  void add(T n) { set(get() + n); }
  void set(T v) { std::atomic_ref(value_).store(v, std::memory_order_release); }
  [[nodiscard]] T get() const { return std::atomic_ref(value_).load(std::memory_order_acquire); }

 private:
  // A reference to a constant object cannot be atomic.
  mutable T value_;
  static_assert(std::atomic_ref<T>::is_always_lock_free);
};

/// For one thread: a result, or a copy to read from.
using Histogram = BasicHistogram<PrivateCell>;
/// Written by one thread, read by any: a reader merges it into a Histogram of its own.
using SharedHistogram = BasicHistogram<SharedCell>;

}  // namespace turnpike::metrics
