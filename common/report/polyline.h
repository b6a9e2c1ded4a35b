// SPDX-License-Identifier: BSD-3-Clause
// The points of a series as an SVG path, thinned to the resolution of the screen.
#pragma once

#include <string>

#include "common/report/chart.h"
#include "common/report/scale.h"

namespace turnpike::report {

/// The "d" of a <path>, with a gap where a point cannot be shown. Of the points within one pixel
/// column only the first, smallest, largest and last stay, so that peaks survive. Omits points
/// beyond the ends of x; clips values beyond `top` and `bottom` (px). Empty if there is nothing to
/// draw.
std::string path_data(const Series& series, const Scale& x, const Scale& y, double top,
                      double bottom);

}  // namespace turnpike::report
