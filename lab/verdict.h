// SPDX-License-Identifier: BSD-3-Clause
// Formats the result of a run for a terminal.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace turnpike::lab {

/// Adds the results of the same file on the virtual clock: "lab" to each host and bottleneck of an
/// interval (error, utilization), and "lab_ok" to the verdict.
void add_reference(nlohmann::json& summary, const nlohmann::json& lab);

/// Whether shares, utilisation and losses are within their bounds, on each clock that was played.
bool demo_good(const nlohmann::json& summary);

/// The table of measured against entitled rates per steady interval, the utilisation of
/// bottlenecks, packets lost, time that the machine took, and a line that says whether all are
/// within bounds.
std::string verdict_text(const nlohmann::json& summary);

}  // namespace turnpike::lab
