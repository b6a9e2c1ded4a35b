// SPDX-License-Identifier: BSD-3-Clause
// What a run did not deliver of what it was asked to.
#pragma once

#include <string>

#include "sender/results/record.h"

namespace turnpike::sender {

/// Flows that were reset or given up, and hosts whose open flows were all unanswered when the run
/// ended; one line, without its end. Empty: none. A flow that the run's end merely cut short is
/// none of these.
std::string shortfall_text(const config::Topology& topology, const Record& record);

}  // namespace turnpike::sender
