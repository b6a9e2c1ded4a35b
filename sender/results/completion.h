// SPDX-License-Identifier: BSD-3-Clause
// How long finite flows took, and how evenly flows were served.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/config/topology.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// count (all flows that have ended or were open at the end), completed; asked_for, started and
/// not_started, which add up to asked_for, delayed (of those started) and unfinished, which with
/// completed adds up to started; over the finite flows that completed: afct_s, the mean completion
/// time, fct_s {p50, p90, p99}, by_size [{min_bytes, max_bytes, count, afct_s}], a bin per power of
/// ten; jain: Jain's index (1 is even) of the flows' mean rates, each over its host's budget.
/// What no flow tells is left out.
nlohmann::json completion_summary(const config::Topology& topology, const Record& record);

}  // namespace turnpike::sender
