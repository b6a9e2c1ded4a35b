// SPDX-License-Identifier: BSD-3-Clause
// What a run came to, as text for a terminal.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace turnpike::lab {

/// Adds what the same file came to on the virtual clock: "lab" to each host and bottleneck of an
/// interval (error, utilization), and "lab_ok" to the verdict.
void add_reference(nlohmann::json& summary, const nlohmann::json& lab);

/// Whether shares, utilisation and losses are as they should be, on both clocks where both played.
bool demo_good(const nlohmann::json& summary);

/// The table of measured against entitled rates per steady interval, utilisation of bottlenecks,
/// what was lost, what the machine took, and a line that says whether all of it is as it should be.
std::string verdict_text(const nlohmann::json& summary);

}  // namespace turnpike::lab
