// SPDX-License-Identifier: BSD-3-Clause
// What an independent simulator has for the same scenario, beside what came out here.
#pragma once

#include <string>
#include <vector>

#include "lab/paper/metrics.h"

namespace turnpike::lab {

/// Further apart than this calls for a reason.
inline constexpr double kFarApart = 0.1;

struct Compared {
  std::string metric, reference, here;  // with their units
  double difference = 0;                // of the reference; as it is where that is 0
  std::string why = {};                 // of one that is far apart

  [[nodiscard]] bool far() const;
};

/// The metrics that have a reference, in the order of the index.
std::vector<Compared> compare_references(const Experiment& experiment, const Metrics& metrics);

}  // namespace turnpike::lab
