// SPDX-License-Identifier: BSD-3-Clause
// Whether the traffic generator sent all that a run asked for.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace turnpike::report {

/// One line about traffic that the run could not generate for lack of resources, by its summary:
/// flows that started late or never, packets that could not be sent or received. Empty: no such
/// limit.
std::string limits_text(const nlohmann::json& summary);

}  // namespace turnpike::report
