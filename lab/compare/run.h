// SPDX-License-Identifier: BSD-3-Clause
// `turnpike lab --compare fcp,xcp,... FILE`: one run per scheme, and their results side by side.
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

/// `topology` is the file with its settings; each scheme replaces the laws of its links and the
/// protocols of its traffic.
ExitCode run_comparison(const CompareOptions& options, const config::Topology& topology);

}  // namespace turnpike::lab
