// SPDX-License-Identifier: BSD-3-Clause
// Reads a law's gauges by name, for tests.
#pragma once

#include <array>
#include <cmath>
#include <string_view>

#include "common/protocols/link_law.h"

namespace turnpike {

/// NaN where the law has no such gauge.
inline double gauge(const LinkLaw& law, std::string_view name) {
  std::array<Gauge, LinkLaw::kMaxGauges> all;
  const size_t n = law.gauges(all);
  for (size_t i = 0; i < n; ++i)
    if (all[i].name == name) return all[i].value;
  return std::nan("");
}

}  // namespace turnpike
