// SPDX-License-Identifier: BSD-3-Clause
// What a run came to, as text for a terminal.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace turnpike::lab {

/// The table of measured against entitled rates per steady interval, utilisation of bottlenecks,
/// what was lost, and a line that says whether all of it is as it should be; where it is not and
/// the machine kept the programs from running, one more that says for how long.
std::string verdict_text(const nlohmann::json& summary);

}  // namespace turnpike::lab
