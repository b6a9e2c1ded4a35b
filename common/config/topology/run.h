// SPDX-License-Identifier: BSD-3-Clause
// Settings of the whole run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/units/units.h"

namespace turnpike::config {

/// A span of time with figures of its own in the summary.
struct Span {
  std::string name;
  Nanos from{0}, to{0};
};

struct Run {
  std::string name;  // scenario; the file's stem by default
  Nanos duration = from_seconds(10);
  uint64_t seed = 1;
  std::string output = "out";        // folder
  Nanos sample = from_seconds(0.1);  // interval of the series
  Nanos settle = from_seconds(0.5);  // after each change of flows, before shares are measured
  double tolerance = 0.05;           // on each host's share
  uint16_t udp_port = 4747;
  Nanos quantum{0};  // of a virtual clock; 0: exact
  std::vector<Span> measure = {};
  std::string preset = {};
};

}  // namespace turnpike::config
