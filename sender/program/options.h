// SPDX-License-Identifier: BSD-3-Clause
// turnpike-sender's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/units/units.h"

namespace turnpike::sender {

struct Options {
  std::string file;                // the topology
  std::vector<std::string> nodes;  // hosts to play; none: all that are not external
  std::vector<unsigned> lcores;    // CPUs to play them on; none: chosen
  std::string live = "auto";       // auto, table, lines, json, off
  std::string output;              // folder; empty: the file's
  std::optional<Nanos> duration;
  std::optional<uint64_t> seed;
  Nanos wait = 30_s;  // for links to come up
  bool hugepages = false;
  bool show_log = false;         // DPDK's messages
  std::vector<std::string> eal;  // behind "--"
};

/// Parsed, or the exit code after help or an error has been printed.
tl::expected<Options, int> parse_options(int argc, char** argv);

}  // namespace turnpike::sender
