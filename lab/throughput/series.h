// SPDX-License-Identifier: BSD-3-Clause
// A series of measurements: each size of frames with each number of lcores.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "common/config/load.h"
#include "lab/throughput/measure.h"

namespace turnpike::lab {

/// The values of one measurement of the series in place of the file's.
struct Variant {
  std::string frames = {};  // B of the streams' frames with FCS, or "imix"; empty: as the file says
  unsigned lcores = 0;      // of each router, the first ones of its list; 0: as the file says
};

/// All combinations: numbers of lcores in their order, and for each of them the frames in theirs.
std::vector<Variant> variants(std::span<const std::string> frames,
                              std::span<const unsigned> lcores);

/// The values to load the file with. The error: a router whose list has too few lcores.
tl::expected<std::vector<config::Setting>, std::string> settings_for(
    const Variant& variant, const config::Topology& topology);

/// A measurement, and the topology that it is of.
struct Measured {
  Variant variant;
  config::Topology topology;
  Measurement measurement;
};

/// By measurement: "frames" (a list of sizes, B), "lcores" (by router, CPUs), and those of
/// measurement_json().
nlohmann::ordered_json series_json(std::span<const Measured> series);
/// A table with a row for each measurement and goal.
std::string series_text(std::span<const Measured> series);

}  // namespace turnpike::lab
