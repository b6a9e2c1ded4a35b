// SPDX-License-Identifier: BSD-3-Clause
// The values of requests about packets.
#pragma once

#include <optional>

#include <tl/expected.hpp>

#include "router/datapath/probe/packet_filter.h"
#include "router/program/probe_session.h"

namespace turnpike::router {

/// A number in [least, most]; `fallback` if the request has none.
tl::expected<double, Failure> number_of(const Json& request, const char* key, double fallback,
                                        double least, double most);
bool flag_of(const Json& request, const char* key, bool fallback);
/// "filter": an array of [code, jt, jf, k].
tl::expected<PacketFilter, Failure> filter_of(const Json& request);
/// "link": its index among the router's; none: the request has none.
tl::expected<std::optional<unsigned>, Failure> link_of(const Json& request, const ProbedRouter& on);

}  // namespace turnpike::router
