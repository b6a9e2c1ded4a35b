// SPDX-License-Identifier: BSD-3-Clause
// Reads and prints IPv4 and IPv6 addresses, prefixes and MACs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/config/topology.h"

namespace turnpike::config {

// Parsers take the whole text; std::nullopt for blanks, names and short forms that inet_pton(3)
// refuses. A prefix needs its length ("10.0.0.1/24"); host bits may be set.
std::optional<Ipv4> parse_ipv4(std::string_view text);
std::optional<Ipv6> parse_ipv6(std::string_view text);
std::optional<Ipv4Prefix> parse_ipv4_prefix(std::string_view text);
std::optional<Ipv6Prefix> parse_ipv6_prefix(std::string_view text);
/// Six pairs of hexadecimal digits with colons between.
std::optional<Mac> parse_mac(std::string_view text);

std::string ipv4_text(Ipv4 address);
std::string ipv6_text(const Ipv6& address);  // as RFC 5952 writes it
std::string prefix_text(const Ipv4Prefix& prefix);
std::string prefix_text(const Ipv6Prefix& prefix);
std::string mac_text(const Mac& mac);

/// The prefix with its host bits cleared, as a routing table holds it.
Ipv4Prefix network(const Ipv4Prefix& prefix);
Ipv6Prefix network(const Ipv6Prefix& prefix);

/// Whether the address lies in the prefix.
bool contains(const Ipv4Prefix& prefix, Ipv4 address);
bool contains(const Ipv6Prefix& prefix, const Ipv6& address);
/// Whether `outer` holds all of `inner` (equal prefixes do).
bool covers(const Ipv4Prefix& outer, const Ipv4Prefix& inner);
bool covers(const Ipv6Prefix& outer, const Ipv6Prefix& inner);

}  // namespace turnpike::config
