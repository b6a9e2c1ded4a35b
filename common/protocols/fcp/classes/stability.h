// SPDX-License-Identifier: BSD-3-Clause
// Stability: bounds the change of a class's price within a window of time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "common/units/units.h"

namespace turnpike::fcp {

/// Least and greatest of the prices of a window, $/B; without a price, 0 < least > greatest.
struct PriceRange {
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0;

  [[nodiscard]] bool empty() const { return greatest == 0; }
  void include(double price) {
    least = std::min(least, price);
    greatest = std::max(greatest, price);
  }
  void include(const PriceRange& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
  /// The price nearest to `price` that differs from every price of the window by at most `factor`.
  [[nodiscard]] double bound(double price, double factor) const {
    if (empty()) return price;
    return std::clamp(price, greatest / factor, std::max(least * factor, greatest / factor));
  }
};

/// The prices that a class's packets were stamped with lately, in bins of a part of the window. A
/// bin counts as a whole while its last price is within the window, so the bound holds strictly.
/// Without a price in the window, as before the class's first packet, there is no bound.
class PriceWindow {
 public:
  void record(Nanos now, Nanos window, double price) {
    if (count_ == 0 || now - bin(0).first >= window / (kBins - 4)) {
      head_ = (head_ + 1) % kBins;
      count_ = std::min(count_ + 1, kBins);
      bins_[head_] = {.first = now, .last = now, .range = {}};
    }
    bins_[head_].last = now;
    bins_[head_].range.include(price);
    range_.include(price);
  }

  /// Of the prices recorded after now - window. Sums up the bins anew only after one has left the
  /// window, or after the window has changed.
  [[nodiscard]] PriceRange range(Nanos now, Nanos window) {
    if (now >= valid_until_ || window != window_) sum_up(now, window);
    return range_;
  }

 private:
  static constexpr size_t kBins = 32;
  struct Bin {
    Nanos first{0}, last{0};
    PriceRange range;
  };
  // The i-th newest.
  [[nodiscard]] const Bin& bin(size_t i) const { return bins_[(head_ + kBins - i) % kBins]; }

  void sum_up(Nanos now, Nanos window) {
    range_ = {};
    window_ = window;
    valid_until_ = now;  // without a bin there is nothing to keep
    for (size_t i = 0; i < count_ && bin(i).last > now - window; ++i) {
      range_.include(bin(i).range);
      valid_until_ = bin(i).last + window;
    }
  }

  PriceRange range_;  // of the window, from the last sum_up() on
  Nanos window_{0}, valid_until_{0};
  size_t head_ = 0, count_ = 0;
  std::array<Bin, kBins> bins_{};
};

}  // namespace turnpike::fcp
