// SPDX-License-Identifier: BSD-3-Clause
// Plays one of configs/paper's experiments and returns its figures.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocols/registry.h"

namespace turnpike::lab {

/// A topology of configs/paper, and the settings that a test changes (config::parse_setting).
struct Trimmed {
  std::string name;
  std::vector<std::string> settings;
};

/// Figures of a run, named as in summary.json: "steady/links/L50/utilization". Figures of the whole
/// run have no span before them.
struct Outcome {
  std::map<std::string, double> shares;  // utilizations, and goodputs of the narrowest link's rate
  std::map<std::string, double> queues;  // mean delays, ms
  std::map<std::string, std::map<std::string, double>> gauges;  // of links with laws, at the end
  double completion = 0;                                        // s, mean of the flows completed
  size_t completed = 0;                                         // flows
};

/// `find` returns the routers' laws. EAL must be up. A run that fails fails the test.
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
