// SPDX-License-Identifier: BSD-3-Clause
// Joins what sender and routers left in a run's folder.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

namespace turnpike::lab {

/// Adds to summary.json what links.csv tells and what `add` adds, renders report.html, and returns
/// the summary; or says what was wrong. Doing it twice changes nothing.
tl::expected<nlohmann::json, std::string> finish_report(
    const std::string& folder, const std::function<void(nlohmann::json&)>& add = {});

}  // namespace turnpike::lab
