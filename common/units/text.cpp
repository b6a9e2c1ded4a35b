// SPDX-License-Identifier: BSD-3-Clause
// One table of units per quantity, for the parser, the printer and the messages.
#include "common/units/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace turnpike {
namespace {

struct Unit {
  std::string_view name;
  // In base units. long double, because int64 counts exceed double's 53 bits.
  long double scale;
  bool print = true;  // KiB and the like are read but never written
};

template <class Q>
struct Units;

template <>
struct Units<Nanos> {
  using Number = long double;
  static constexpr std::array list{Unit{"ns", 1},   Unit{"us", 1e3L},   Unit{"ms", 1e6L},
                                   Unit{"s", 1e9L}, Unit{"min", 60e9L}, Unit{"h", 3600e9L}};
  static constexpr std::string_view names = "ns, us, ms, s, min, h";
  static constexpr std::string_view example = "12.5 ms", zero = "0 s";
};
template <>
struct Units<Bytes> {
  using Number = long double;
  static constexpr std::array list{Unit{"B", 1},
                                   Unit{"KB", 1e3L},
                                   Unit{"KiB", 1024, false},
                                   Unit{"MB", 1e6L},
                                   Unit{"MiB", 1048576, false},
                                   Unit{"GB", 1e9L},
                                   Unit{"GiB", 1073741824, false}};
  static constexpr std::string_view names = "B, KB, MB, GB, KiB, MiB, GiB";
  static constexpr std::string_view example = "64 KB", zero = "0 B";
};
template <>
struct Units<BitRate> {
  using Number = double;
  static constexpr std::array list{Unit{"bps", 1}, Unit{"Kbps", 1e3L}, Unit{"Mbps", 1e6L},
                                   Unit{"Gbps", 1e9L}, Unit{"Tbps", 1e12L}};
  static constexpr std::string_view names = "bps, Kbps, Mbps, Gbps, Tbps";
  static constexpr std::string_view example = "100 Gbps", zero = "0 bps";
};
template <>
struct Units<Price> {
  using Number = double;
  // Ascending, like the other tables: a dollar per gigabyte is the smallest.
  static constexpr std::array list{Unit{"$/GB", 1e-9L}, Unit{"$/MB", 1e-6L}, Unit{"$/KB", 1e-3L},
                                   Unit{"$/B", 1}};
  static constexpr std::string_view names = "$/B, $/KB, $/MB, $/GB";
  static constexpr std::string_view example = "2 $/GB", zero = "0 $/B";
};
template <>
struct Units<Budget> {
  using Number = double;
  static constexpr std::array list{Unit{"$/s", 1}};
  static constexpr std::string_view names = "$/s";
  static constexpr std::string_view example = "1 $/s", zero = "0 $/s";
};

struct Frequency {};
template <>
struct Units<Frequency> {
  using Number = double;
  static constexpr std::array list{Unit{"/us", 1e6L}, Unit{"/ms", 1e3L}, Unit{"/s", 1},
                                   Unit{"/min", 1.0L / 60}};
  static constexpr std::string_view names = "/s, /ms, /us, /min";
  static constexpr std::string_view example = "438 /s";
};

std::string_view trim(std::string_view s) {
  const auto first = s.find_first_not_of(" \t");
  if (first == s.npos) return {};
  return s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

template <class U>
std::string accepts() {
  return "write a number and one of " + std::string(U::names) + ", such as '" +
         std::string(U::example) + "'";
}

// The number in base units. Doubles are scaled as doubles, so that 0.1 Gbps is exactly 1e8.
template <class U>
tl::expected<typename U::Number, std::string> parse(std::string_view text) {
  using Number = typename U::Number;
  text = trim(text);
  const std::string shown = "'" + std::string(text.substr(0, 40)) + "'";
  Number number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument)
    return tl::unexpected(shown + " is not a number with a unit: " + accepts<U>());
  const std::string_view unit = trim(std::string_view(rest, text.data() + text.size() - rest));
  if (error != std::errc{} || !std::isfinite(number))
    return tl::unexpected(shown + " is not a finite number: " + accepts<U>());
  if (unit.empty()) return tl::unexpected(shown + " has no unit: " + accepts<U>());
  for (const Unit& u : U::list) {
    if (u.name != unit) continue;
    // Division by a power of ten is exact where multiplication by its inverse is not (1 $/GB).
    const Number value = u.scale < 1 ? number / static_cast<Number>(1 / u.scale)
                                     : number * static_cast<Number>(u.scale);
    if (!std::isfinite(value)) return tl::unexpected(shown + " is too large");
    return value;
  }
  return tl::unexpected(shown + " has an unknown unit '" + std::string(unit.substr(0, 20)) +
                        "': " + accepts<U>());
}

template <class Number>
std::string shortest(Number v) {
  std::array<char, 64> out;
  const auto [end, error] = std::to_chars(out.data(), out.data() + out.size(), v);
  return {out.data(), error == std::errc{} ? end : out.data()};
}

// The largest unit that keeps the value at 1 or more and reads back as the same value.
template <class Q>
std::string print(Q v) {
  using U = Units<Q>;
  using Number = typename U::Number;
  if (v.count() == 0) return std::string(U::zero);
  const auto value = static_cast<Number>(v.count());
  for (auto u = U::list.rbegin(); u != U::list.rend(); ++u) {
    if (!u->print) continue;
    const Number scaled = u->scale < 1 ? value * static_cast<Number>(1 / u->scale)
                                       : value / static_cast<Number>(u->scale);
    if (std::fabs(scaled) < 1 && u + 1 != U::list.rend()) continue;
    std::string text = shortest(scaled) + " " + std::string(u->name);
    if (const auto back = parse_quantity<Q>(text); back && *back == v) return text;
  }
  for (const Unit& u : U::list)  // the base unit is exact
    if (u.scale == 1) return shortest(value) + " " + std::string(u.name);
  return {};
}

template <class Q>
tl::expected<Q, std::string> parse_whole(std::string_view text) {
  const auto value = parse<Units<Q>>(text);
  if (!value) return tl::unexpected(value.error());
  const long double rounded = std::round(*value);
  if (std::fabs(rounded) >= 9223372036854775808.0L)
    return tl::unexpected("'" + std::string(trim(text).substr(0, 40)) + "' is too large");
  if (rounded == 0 && *value != 0)
    return tl::unexpected("'" + std::string(trim(text).substr(0, 40)) + "' is less than 1 " +
                          std::string(Units<Q>::list[0].name));
  return Q(static_cast<int64_t>(rounded));
}

template <class Q>
tl::expected<Q, std::string> parse_real(std::string_view text) {
  const auto value = parse<Units<Q>>(text);
  if (!value) return tl::unexpected(value.error());
  return Q(*value);
}

}  // namespace

template <>
tl::expected<Nanos, std::string> parse_quantity(std::string_view text) {
  return parse_whole<Nanos>(text);
}
template <>
tl::expected<Bytes, std::string> parse_quantity(std::string_view text) {
  return parse_whole<Bytes>(text);
}
template <>
tl::expected<BitRate, std::string> parse_quantity(std::string_view text) {
  return parse_real<BitRate>(text);
}
template <>
tl::expected<Price, std::string> parse_quantity(std::string_view text) {
  return parse_real<Price>(text);
}
template <>
tl::expected<Budget, std::string> parse_quantity(std::string_view text) {
  return parse_real<Budget>(text);
}

tl::expected<double, std::string> parse_frequency(std::string_view text) {
  return parse<Units<Frequency>>(text);
}

template <>
std::string_view accepted_units<Nanos>() {
  return Units<Nanos>::names;
}
template <>
std::string_view accepted_units<Bytes>() {
  return Units<Bytes>::names;
}
template <>
std::string_view accepted_units<BitRate>() {
  return Units<BitRate>::names;
}
template <>
std::string_view accepted_units<Price>() {
  return Units<Price>::names;
}
template <>
std::string_view accepted_units<Budget>() {
  return Units<Budget>::names;
}

std::string to_text(Nanos v) { return print(v); }
std::string to_text(Bytes v) { return print(v); }
std::string to_text(BitRate v) { return print(v); }
std::string to_text(Price v) { return print(v); }
std::string to_text(Budget v) { return print(v); }

}  // namespace turnpike
