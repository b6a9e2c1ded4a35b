// SPDX-License-Identifier: BSD-3-Clause
// Sources that a NIC may refuse for the router, because the parse stage refuses them all.
#pragma once

#include <array>
#include <span>

#include "common/dpdk/source_filter.h"

namespace turnpike::router {

/// Prefixes all of whose packets the parse stage drops as `martian_source` (RFC 1812 5.3.7, RFC
/// 4291 2.5.3 and 2.7), if it has no reason to drop them before it looks at the source. The
/// router's own addresses and IPv6's unspecified one depend on more than the source, and are left
/// to it.
inline constexpr std::array<SourcePrefix, 5> kMartianSources{{
    {.ipv6 = false, .address = {0}, .length = 8, .text = "0.0.0.0/8"},
    {.ipv6 = false, .address = {127}, .length = 8, .text = "127.0.0.0/8"},
    {.ipv6 = false, .address = {224}, .length = 3, .text = "224.0.0.0/3"},  // multicast, class E
    {.ipv6 = true, .address = {0xff}, .length = 8, .text = "ff00::/8"},
    {.ipv6 = true,
     .address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
     .length = 128,
     .text = "::1/128"},
}};

/// The same for a router. `linux_control`: DHCP's broadcasts from 0.0.0.0 go to Linux.
constexpr std::span<const SourcePrefix> martian_sources(bool linux_control) {
  return std::span(kMartianSources).subspan(linux_control ? 1 : 0);
}

}  // namespace turnpike::router
