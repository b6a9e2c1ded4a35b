// SPDX-License-Identifier: BSD-3-Clause
// Numbers on a page: independent of the locale, never "nan" or "-0.0".
#pragma once

#include <cstdint>
#include <string>

namespace turnpike::report {

/// Text for a number that is not finite.
inline constexpr const char* kNoNumber = "–";

/// `v` with exactly `decimals` digits after the point.
std::string fixed(double v, int decimals);

/// `v` with about `digits` significant digits, trailing zeros cut, plain from 1e-4 to 1e7 and
/// with a power of ten (1.5e-8) beyond.
std::string significant(double v, int digits = 4);

/// Digits in groups of three: 1 234 567 (with narrow no-break spaces).
std::string grouped(uint64_t v);

/// A ratio in per cent, with a plus sign if `sign`: +1.25 %.
std::string percent(double ratio, int decimals = 2, bool sign = false);

}  // namespace turnpike::report
