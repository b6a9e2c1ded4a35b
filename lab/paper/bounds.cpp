// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/bounds.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "common/report/number.h"

namespace turnpike::lab {
namespace {

using report::significant;
using Kind = CheckSpec::Kind;

using Interval = std::pair<double, double>;

/// The values that round to a printed number; nothing where the text is no number.
std::optional<Interval> rounding_interval(std::string_view printed) {
  double v = 0;
  const char* end = printed.data() + printed.size();
  const auto [at, error] = std::from_chars(printed.data(), end, v);
  if (error != std::errc() || at != end) return std::nullopt;
  const std::string_view mantissa = printed.substr(0, printed.find_first_of("eE"));
  const size_t point = mantissa.find('.');
  const auto decimals =
      point == std::string_view::npos ? 0.0 : static_cast<double>(mantissa.size() - point - 1);
  double exponent = 0;
  if (mantissa.size() < printed.size()) {
    std::string_view digits = printed.substr(mantissa.size() + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  }
  const double half = 0.5 * std::pow(10, exponent - decimals);
  return Interval(v - half, v + half);
}

/// The values that the paper's text stands for: all that round to 3 for "3" and "about 3", all from
/// 2 to 3 for "2 to 3"; "at most 3" has no lower end. Nothing where it is other words.
std::optional<Interval> paper_interval(std::string_view text) {
  constexpr std::string_view kAbout = "about ", kAtMost = "at most ", kTo = " to ";
  if (text.starts_with(kAbout)) return rounding_interval(text.substr(kAbout.size()));
  if (text.starts_with(kAtMost)) {
    const auto most = rounding_interval(text.substr(kAtMost.size()));
    if (!most) return std::nullopt;
    return Interval(-std::numeric_limits<double>::infinity(), most->second);
  }
  if (const size_t to = text.find(kTo); to != std::string_view::npos) {
    const auto low = rounding_interval(text.substr(0, to)),
               high = rounding_interval(text.substr(to + kTo.size()));
    if (low && high)
      return Interval(std::midpoint(low->first, low->second),
                      std::midpoint(high->first, high->second));
  }
  return rounding_interval(text);
}

}  // namespace

std::string with_unit(const std::string& text, const MetricSpec& m) {
  return text + (m.unit.empty() || text.empty() ? "" : " " + m.unit);
}

std::string bound_text(const CheckSpec& c, const MetricSpec& m) {
  switch (c.kind) {
    case Kind::kAtLeast:
      return "≥ " + with_unit(significant(c.a), m);
    case Kind::kAtMost:
      return "≤ " + with_unit(significant(c.a), m);
    case Kind::kWithin:
      return significant(c.a) + " to " + with_unit(significant(c.b), m);
    case Kind::kNear:
      return with_unit(significant(c.a), m) + " ± " + significant(c.b * 100) + " %";
    case Kind::kAbove:
      return "> " + c.other;
    case Kind::kBelow:
      return "< " + c.other;
  }
  return "";
}

bool holds(const CheckSpec& c, double v, double other) {
  switch (c.kind) {
    case Kind::kAtLeast:
      return v >= c.a;
    case Kind::kAtMost:
      return v <= c.a;
    case Kind::kWithin:
      return v >= c.a && v <= c.b;
    case Kind::kNear:
      return std::fabs(v - c.a) <= c.b * std::fabs(c.a);
    case Kind::kAbove:
      return v > other;
    case Kind::kBelow:
      return v < other;
  }
  return false;
}

bool wider_than_paper(const CheckSpec& c) {
  const auto printed = paper_interval(c.paper);
  if (!printed) return !c.paper.empty() && (c.kind == Kind::kWithin || c.kind == Kind::kNear);
  const double low = printed->first, high = printed->second;
  const double slack = 1e-9 * std::fabs(high);  // of binary fractions
  const auto outside = [&](double from, double to) {
    return from < low - slack || to > high + slack;
  };
  switch (c.kind) {
    case Kind::kAtLeast:
      return c.a < low - slack;
    case Kind::kAtMost:
      return c.a > high + slack;
    case Kind::kWithin:
      return outside(c.a, c.b);
    case Kind::kNear:
      return outside(c.a - c.b * std::fabs(c.a), c.a + c.b * std::fabs(c.a));
    case Kind::kAbove:
    case Kind::kBelow:
      return false;
  }
  return false;
}

}  // namespace turnpike::lab
