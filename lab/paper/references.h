// SPDX-License-Identifier: BSD-3-Clause
// Compares metrics with those of an independent simulator for the same scenario.
#pragma once

#include <string>
#include <vector>

#include "lab/paper/metrics.h"

namespace turnpike::lab {

/// A relative difference above this requires an explanation.
inline constexpr double kFarApart = 0.1;

struct Compared {
  std::string metric, reference, here;  // with their units
  double difference = 0;                // relative to the reference; absolute where that is 0
  std::string why = {};                 // explains a large difference

  [[nodiscard]] bool far() const;
};

/// The metrics that have a reference, in the order of the index.
std::vector<Compared> compare_references(const Experiment& experiment, const Metrics& metrics);

}  // namespace turnpike::lab
