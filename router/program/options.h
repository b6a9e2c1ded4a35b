// SPDX-License-Identifier: BSD-3-Clause
// turnpike-router's command line.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/program/command_line.h"
#include "router/router.h"

namespace turnpike::router {

struct Options : CommandLine {
  Nanos slack = kRealTimeSlack;  // link time on which a late poll may catch up
  std::string log_level = "info";
};

/// The options, or the exit code after help or an error message has been printed.
tl::expected<Options, int> parse_options(int argc, char** argv);

}  // namespace turnpike::router
