// SPDX-License-Identifier: BSD-3-Clause
// One of configs/paper's experiments, played for its figures alone.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocols/registry.h"

namespace turnpike::lab {

/// A topology of configs/paper, and what a test changes in it (config::parse_setting).
struct Trimmed {
  std::string name;
  std::vector<std::string> settings;
};

/// What came of it, by names as in summary.json: "steady/links/L50/utilization". The whole run's
/// have no span before them.
struct Outcome {
  std::map<std::string, double> shares;  // utilizations, and goodputs of the narrowest link's rate
  std::map<std::string, double> queues;  // mean delays, ms
  std::map<std::string, std::map<std::string, double>> gauges;  // of links with laws, at the end
  double completion = 0;                                        // s, mean of the flows completed
  size_t completed = 0;                                         // flows
};

/// `find`: the routers' laws. EAL must be up. What cannot be played fails the test.
Outcome play(const Trimmed& experiment,
             const Protocol* (*find)(std::string_view name) = find_protocol);

/// The greatest absolute difference of the same figure in two outcomes, and which one it is.
struct Difference {
  double most = 0;
  std::string name;
};
Difference difference(const std::map<std::string, double>& a,
                      const std::map<std::string, double>& b);

}  // namespace turnpike::lab
