// SPDX-License-Identifier: BSD-3-Clause
// Figures for the comparison of schemes, from the files of their runs.
#pragma once

#include <string>
#include <vector>

#include "common/report/chart.h"
#include "lab/compare/compare.h"
#include "lab/compare/completion.h"

namespace turnpike::lab {

struct Figure {
  std::string name;            // with its unit
  std::vector<double> values;  // by run; NaN where it has none
};

std::vector<Figure> figures_of(const Comparison& c);

/// Those that have anything to show. `tenths` are the comparison's, see completion_by_size.
std::vector<report::Chart> charts_of(const Comparison& c, const std::vector<SizeTenth>& tenths);

}  // namespace turnpike::lab
