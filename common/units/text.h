// SPDX-License-Identifier: BSD-3-Clause
// Quantities as text with units: "12.5 ms", "100 Gbps", "64 KB", "1 $/s".
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "common/units/units.h"

namespace turnpike {

/// Parses a quantity with its unit. A missing or unknown unit, trailing text, or a number that is
/// not finite is an error, whose text lists the accepted units. The caller checks sign and range.
///   Nanos: ns us ms s min h          Bytes: B KB MB GB (powers of 1000) KiB MiB GiB (of 1024)
///   BitRate: bps Kbps Mbps Gbps Tbps Price: $/B $/KB $/MB $/GB          Budget: $/s
template <class Q>
tl::expected<Q, std::string> parse_quantity(std::string_view text);

/// A frequency such as "438 /s" or "2.5 /ms" (per s, ms, us, min): events per second.
tl::expected<double, std::string> parse_frequency(std::string_view text);

/// The units that parse_quantity<Q> accepts, for messages and for the schema: "ns, us, ms, s, ...".
template <class Q>
std::string_view accepted_units();

// text.cpp instantiates them for the five quantities.
template <>
tl::expected<Nanos, std::string> parse_quantity(std::string_view text);
template <>
tl::expected<Bytes, std::string> parse_quantity(std::string_view text);
template <>
tl::expected<BitRate, std::string> parse_quantity(std::string_view text);
template <>
tl::expected<Price, std::string> parse_quantity(std::string_view text);
template <>
tl::expected<Budget, std::string> parse_quantity(std::string_view text);
template <>
std::string_view accepted_units<Nanos>();
template <>
std::string_view accepted_units<Bytes>();
template <>
std::string_view accepted_units<BitRate>();
template <>
std::string_view accepted_units<Price>();
template <>
std::string_view accepted_units<Budget>();

/// The shortest text that parses back to the same value, in the largest unit that keeps it >= 1.
std::string to_text(Nanos v);
std::string to_text(Bytes v);
std::string to_text(BitRate v);
std::string to_text(Price v);
std::string to_text(Budget v);

}  // namespace turnpike
