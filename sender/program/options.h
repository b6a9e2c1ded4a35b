// SPDX-License-Identifier: BSD-3-Clause
// turnpike-sender's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "common/program/command_line.h"

namespace turnpike::sender {

struct Options : CommandLine {
  std::optional<uint64_t> seed;
  bool coordinated = false;  // another program says when the run starts, and joins the records
};

/// Parses the command line. The error is the exit code, once help or an error has been printed.
tl::expected<Options, int> parse_options(int argc, char** argv);

}  // namespace turnpike::sender
