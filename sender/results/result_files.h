// SPDX-License-Identifier: BSD-3-Clause
// Writes the files that a run leaves behind.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// Writes rates.csv and flows.csv into `folder`; makes the folder if missing. The error names the
/// file and the reason.
tl::expected<void, std::string> write_series(const config::Topology& topology, const Record& record,
                                             const std::string& folder);

/// The same, summary.json and report.html.
tl::expected<void, std::string> write_results(const config::Topology& topology,
                                              const Record& record, const RunEnd& end,
                                              const std::string& folder);

}  // namespace turnpike::sender
