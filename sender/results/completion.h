// SPDX-License-Identifier: BSD-3-Clause
// Completion times of finite flows, and fairness between flows.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/config/topology.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// All flows: count (ended or open at the run's end), completed, asked_for = started + not_started,
/// delayed (a part of started), unfinished = started - completed. Finite flows that completed:
/// afct_s (mean completion time), fct_s {p50, p90, p99}, by_size [{min_bytes, max_bytes, count,
/// afct_s}] with one bin per power of ten. jain: Jain's fairness index (1: equal) of the flows'
/// mean rates, each divided by its host's budget. Omits values without data.
nlohmann::json completion_summary(const config::Topology& topology, const Record& record);

}  // namespace turnpike::sender
