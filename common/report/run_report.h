// SPDX-License-Identifier: BSD-3-Clause
// From a run's folder to the page that shows the run.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/report/run_data.h"

namespace turnpike::report {

/// The page of a run: each host's rate and entitled rate, and rates, price, queue, utilisation and
/// delays over time.
std::string run_page(const RunData& run);

/// Reads `folder`, writes `folder`/report.html and returns that path. The error is a message.
tl::expected<std::string, std::string> render_run_report(const std::string& folder);

}  // namespace turnpike::report
