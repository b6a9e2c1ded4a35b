// SPDX-License-Identifier: BSD-3-Clause
// Reports flows that a run failed to deliver.
#pragma once

#include <string>

#include "sender/results/record.h"

namespace turnpike::sender {

/// One line, without a newline, on flows that were reset or given up, and on hosts whose open flows
/// were all unanswered at the run's end. Empty: there are none. Excludes flows that the run's end
/// cut short.
std::string shortfall_text(const config::Topology& topology, const Record& record);

}  // namespace turnpike::sender
