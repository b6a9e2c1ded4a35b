// SPDX-License-Identifier: BSD-3-Clause
// Completion times by flow size: flows in tenths by size, the same tenths for every scheme.
#pragma once

#include <vector>

#include "lab/compare/compare.h"

namespace turnpike::lab {

/// Of one scheme's flows in a tenth; NaN where it completed none of them.
struct SizeFigures {
  size_t flows = 0;
  double size = 0;           // B, median
  double mean = 0, p99 = 0;  // s
};

/// Tenths whose flows are all of one size are one.
struct SizeTenth {
  double least = 0, greatest = 0;  // B, of that first run
  std::vector<SizeFigures> runs;   // Comparison::runs
};

/// From the flows.csv of every run, of flows that end by themselves and have. Tenths are by rank,
/// as the first run with such flows has them: where `counts: packets` holds, a flow's payload
/// depends on the scheme's header, its rank does not.
std::vector<SizeTenth> completion_by_size(const Comparison& c);

}  // namespace turnpike::lab
