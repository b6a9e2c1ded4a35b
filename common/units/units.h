// SPDX-License-Identifier: BSD-3-Clause
// Strong types for every quantity: adding seconds to bytes does not compile.
//
// Example:
//
//     const Nanos rtt = 10_ms;
//     const Bytes window = carried(100_Mbps, rtt);             // bandwidth-delay product: 125 kB
//     const Nanos busy = transmission_time(1500_B, 100_Mbps);  // 120 us
//     const BitRate bought = Budget(2.0) / Price(1e-6);        // 2 $/s at 1e-6 $/B: 16 Mbps
//     const double packets = window / 1500_B;                  // a ratio is a plain number
//     // rtt + window does not compile.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace turnpike {

/// A number with a unit. Quantities of one unit add, subtract and compare; scaling takes a plain
/// number; the ratio of two is a plain number. Other operations are named functions below.
template <class Tag, class Rep>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}

  /// The plain number, in the unit of the alias below.
  [[nodiscard]] constexpr Rep count() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator-() const { return Quantity(-value_); }
  constexpr Quantity operator+(Quantity o) const { return Quantity(value_ + o.value_); }
  constexpr Quantity operator-(Quantity o) const { return Quantity(value_ - o.value_); }
  constexpr Quantity operator*(Rep k) const { return Quantity(value_ * k); }
  constexpr Quantity operator/(Rep k) const { return Quantity(value_ / k); }
  constexpr double operator/(Quantity o) const {
    return static_cast<double>(value_) / static_cast<double>(o.value_);
  }
  constexpr Quantity& operator+=(Quantity o) { return *this = *this + o; }
  constexpr Quantity& operator-=(Quantity o) { return *this = *this - o; }

 private:
  Rep value_ = 0;
};

using Nanos = Quantity<struct NanosTag, int64_t>;     // time and durations, nanoseconds
using Bytes = Quantity<struct BytesTag, int64_t>;     // sizes, bytes
using BitRate = Quantity<struct BitRateTag, double>;  // bit/s
using Price = Quantity<struct PriceTag, double>;      // $/B
using Budget = Quantity<struct BudgetTag, double>;    // $/s

/// The deadline of an object that needs no further poll.
inline constexpr Nanos kNever{std::numeric_limits<int64_t>::max()};

/// std::min() and std::max() by value, faster: those return references, and GCC keeps what a
/// reference may denote in memory.
template <class Tag, class Rep>
constexpr Quantity<Tag, Rep> min(Quantity<Tag, Rep> a, Quantity<Tag, Rep> b) {
  return b < a ? b : a;
}
template <class Tag, class Rep>
constexpr Quantity<Tag, Rep> max(Quantity<Tag, Rep> a, Quantity<Tag, Rep> b) {
  return a < b ? b : a;
}

/// MIN of the paper: the price of an idle link; counts as zero when link prices are added.
inline constexpr Price kMinPrice{1e-18};

constexpr double to_seconds(Nanos t) { return static_cast<double>(t.count()) * 1e-9; }
/// The nearest nanosecond; `ns` must be within the range of int64.
constexpr Nanos from_nanoseconds(double ns) {
  return Nanos(static_cast<int64_t>(ns < 0 ? ns - 0.5 : ns + 0.5));
}
/// Rounds to the nearest nanosecond; beyond the range of int64 it saturates at kNever.
constexpr Nanos from_seconds(double s) {
  const double ns = s * 1e9;
  return ns >= 9.2e18 ? kNever : from_nanoseconds(ns);
}

constexpr double bytes_per_second(BitRate r) { return r.count() / 8; }
constexpr BitRate from_bytes_per_second(double r) { return BitRate(r * 8); }

/// Time that `size` occupies a link of rate `rate`; kNever at rate zero.
constexpr Nanos transmission_time(Bytes size, BitRate rate) {
  if (rate.count() <= 0) return kNever;
  return from_seconds(static_cast<double>(size.count()) * 8 / rate.count());
}

/// Bytes that a link of rate `rate` carries in `span` (the bandwidth-delay product).
constexpr Bytes carried(BitRate rate, Nanos span) {
  return Bytes(static_cast<int64_t>(bytes_per_second(rate) * to_seconds(span)));
}

/// The rate that a budget buys at a price: r = w / P.
constexpr BitRate operator/(Budget w, Price p) {
  return from_bytes_per_second(w.count() / p.count());
}

inline namespace literals {
constexpr Nanos operator""_ns(unsigned long long v) { return Nanos(static_cast<int64_t>(v)); }
constexpr Nanos operator""_us(unsigned long long v) {
  return Nanos(static_cast<int64_t>(v) * 1000);
}
constexpr Nanos operator""_ms(unsigned long long v) {
  return Nanos(static_cast<int64_t>(v) * 1000000);
}
constexpr Nanos operator""_s(unsigned long long v) {
  return Nanos(static_cast<int64_t>(v) * 1000000000);
}
constexpr Bytes operator""_B(unsigned long long v) { return Bytes(static_cast<int64_t>(v)); }
constexpr BitRate operator""_Mbps(unsigned long long v) {
  return BitRate(static_cast<double>(v) * 1e6);
}
constexpr BitRate operator""_Gbps(unsigned long long v) {
  return BitRate(static_cast<double>(v) * 1e9);
}
constexpr Budget operator""_usd_per_s(long double v) { return Budget(static_cast<double>(v)); }
}  // namespace literals

}  // namespace turnpike
