// SPDX-License-Identifier: BSD-3-Clause
// Formats a run on a virtual clock for a terminal.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace turnpike::lab {

/// Links with a law, hosts and flows, over the whole run and each span that the file names.
std::string run_text(const nlohmann::json& summary);
/// The run's speed on this machine.
std::string speed_text(const nlohmann::json& summary, double wall_s);

}  // namespace turnpike::lab
