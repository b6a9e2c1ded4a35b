// SPDX-License-Identifier: BSD-3-Clause
// One run of the lab as a process of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/load.h"
#include "lab/child.h"

namespace turnpike::lab {

struct Case {
  std::string file;
  std::vector<config::Setting> settings = {};
  uint64_t seed = 1;
  std::string folder = {};  // for its results
  // A law whose operations are counted for each packet, and lab/paper/operations.py, which does so.
  std::string count = {}, counter = {};
};

/// `turnpike lab` on it, by the program at `executable`, within `counter` if operations are
/// counted. Makes the folder, or says why it cannot.
tl::expected<Command, std::string> command_for(const Case& c, const std::string& executable);

/// "links.bottleneck.rate=1 Gbps, hosts.a.budget=2 $/s", for messages and tables.
std::string settings_text(const std::vector<config::Setting>& settings);

/// The path of the running program.
std::string own_executable();

}  // namespace turnpike::lab
