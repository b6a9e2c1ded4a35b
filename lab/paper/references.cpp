// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/references.h"

#include <cmath>

#include "lab/paper/claims.h"

namespace turnpike::lab {

bool Compared::far() const { return !(std::fabs(difference) <= kFarApart); }

std::vector<Compared> compare_references(const Experiment& e, const Metrics& metrics) {
  std::vector<Compared> all;
  for (const MetricSpec& m : e.metrics) {
    if (!m.reference) continue;
    const double here = shown(m, metrics), there = m.reference->value;
    const double difference = there == 0 ? here : here / there - 1;
    all.push_back({.metric = m.name,
                   .reference = shown_text(there, m),
                   .here = shown_text(here, m),
                   .difference = difference});
    if (all.back().far()) all.back().why = m.reference->why;
  }
  return all;
}

}  // namespace turnpike::lab
