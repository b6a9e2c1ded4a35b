// SPDX-License-Identifier: BSD-3-Clause
// The points of a series as an SVG path, thinned to what the eye can see.
#pragma once

#include <string>

#include "common/report/chart.h"
#include "common/report/scale.h"

namespace turnpike::report {

/// The "d" of a <path>, with a gap where a point cannot be shown. Of many points within one pixel
/// column only the first, least, greatest and last stay, so that peaks survive. Points
/// beyond the ends of x are left out; values beyond `top` and `bottom` (px) are held at these
/// edges. Empty if there is nothing to draw.
std::string path_data(const Series& series, const Scale& x, const Scale& y, double top,
                      double bottom);

}  // namespace turnpike::report
