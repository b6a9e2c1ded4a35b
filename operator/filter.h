// SPDX-License-Identifier: BSD-3-Clause
// Compiles filter expressions as tcpdump knows them (pcap-filter(7)).
#pragma once

#include <string>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

namespace turnpike::ops {

/// The expression as classic BPF: a list of [code, jt, jf, k], for a router to check and run. It is
/// compiled here, so that the router has no grammar and asks no name server. The error shows the
/// place of the mistake under the expression.
tl::expected<nlohmann::ordered_json, std::string> compile_filter(const std::string& expression);

/// Adds the packets that a request is about: a filter and a link of arrival, each "" for any. The
/// error: compile_filter()'s, or "".
std::string choose_packets(nlohmann::ordered_json& request, const std::string& filter,
                           const std::string& link);

}  // namespace turnpike::ops
