// SPDX-License-Identifier: BSD-3-Clause
// The text by which a router recognises an interface that it made and left behind, stored as the
// interface's alias.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "router/control/route_sink.h"

namespace turnpike::router {

struct InterfaceMark {
  std::string router, link;            // names in the topology
  std::vector<Prefix> addresses = {};  // of the file, that the router gave to the interface
};

/// "turnpike router=gate link=uplink addresses=10.0.1.1/24,fd00::1/64": 255 characters at most, as
/// names have 48.
std::string to_text(const InterfaceMark& mark);
/// None: another text.
std::optional<InterfaceMark> parse_mark(std::string_view text);

}  // namespace turnpike::router
