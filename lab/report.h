// SPDX-License-Identifier: BSD-3-Clause
// Joins the files that sender and routers wrote into a run's folder.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "common/parallel/threads.h"

namespace turnpike::lab {

/// Adds to summary.json the figures of links.csv and those of `add`, renders report.html, and
/// returns the summary; or says which file is wrong. A second call changes nothing, nor does the
/// number of threads.
tl::expected<nlohmann::json, std::string> finish_report(
    const std::string& folder, const std::function<void(nlohmann::json&)>& add = {},
    const Threads& threads = Threads());

}  // namespace turnpike::lab
