// SPDX-License-Identifier: BSD-3-Clause
// A router's results in the output folder: links.csv, which is links.csv.part while it runs, and
// router-NAME.json.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/dpdk/port.h"
#include "common/report/whole_file.h"
#include "router/results/sampler.h"

namespace turnpike::router {

class Record {
 public:
  /// Creates the folder and links.csv.part, and removes results of an earlier run. The error has
  /// the path and the reason.
  static tl::expected<Record, std::string> open(const std::string& folder, const std::string& node);

  /// Appends a line per link to links.csv.
  void add(const Sample& sample);
  /// Completes links.csv and writes the counters. `seconds`: duration of the run; `stalled`: time
  /// of the workers' stalls, 0 on a virtual clock; `customers`, `offenders`: those with drops.
  tl::expected<void, std::string> finish(const Snapshot& end, std::span<const PortStats> ports,
                                         double seconds, Nanos stalled = Nanos(0),
                                         std::span<const CustomerSnapshot> customers = {},
                                         std::span<const OffenderSnapshot> offenders = {});

 private:
  Record() = default;
  std::string folder_, node_;
  std::optional<report::WholeFile> series_;
  std::vector<std::string> gauges_;  // columns after the fixed ones
  bool header_written_ = false;
};

/// The final counters for people: packets received, forwarded and dropped, by drop reason.
std::string counters_text(const Snapshot& end, const std::string& node);

}  // namespace turnpike::router
