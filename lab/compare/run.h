// SPDX-License-Identifier: BSD-3-Clause
// `turnpike lab --compare fcp,xcp,... FILE`: a run per scheme, side by side, and what they came to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/config/exit_codes.h"
#include "common/config/load.h"

namespace turnpike::lab {

struct CompareOptions {
  std::string file, folder;
  std::vector<std::string> schemes;
  std::vector<config::Setting> settings;
  uint64_t seed = 1;
  std::optional<Nanos> duration;
  bool json = false;
};

/// `topology` is what the file says with its settings; its links and traffic are what the schemes
/// take turns on.
ExitCode run_comparison(const CompareOptions& options, const config::Topology& topology);

}  // namespace turnpike::lab
