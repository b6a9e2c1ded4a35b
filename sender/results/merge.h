// SPDX-License-Identifier: BSD-3-Clause
// Joins what several senders measured in one run.
#pragma once

#include <span>
#include <string>

#include "common/config/topology.h"
#include "sender/results/record_file.h"

namespace turnpike::sender {

/// One run, as if one sender had run all hosts. The runs' clocks must have begun at the same
/// instant, and no host may be in two of them. Samples are taken every Run::sample and at the end:
/// counters between two samples of a sender are interpolated. `runs`: one at least. `folder`:
/// of the temporary file of OutcomeLog.
RecordedRun merge(const config::Topology& topology, std::span<const RecordedRun> runs,
                  const std::string& folder = ".");

}  // namespace turnpike::sender
