// SPDX-License-Identifier: BSD-3-Clause
// From a run's folder to the page that shows the run.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/report/run_data.h"

namespace turnpike::report {

/// The page of a run: what each host got against what it was entitled to, and how rates, price,
/// queue, utilisation and delays went.
std::string run_page(const RunData& run);

/// Reads `folder`, writes `folder`/report.html and returns that path; or says what was wrong.
tl::expected<std::string, std::string> render_run_report(const std::string& folder);

}  // namespace turnpike::report
