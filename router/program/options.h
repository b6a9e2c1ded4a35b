// SPDX-License-Identifier: BSD-3-Clause
// turnpike-router's command line.
#pragma once

#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "common/program/command_line.h"
#include "router/linux/kernel_reader.h"
#include "router/program/metrics_server.h"
#include "router/router.h"

namespace turnpike::router {

struct Options : CommandLine {
  Nanos slack = kRealTimeSlack;  // link time on which a late poll may catch up
  std::string log_level = "info";
  std::optional<MetricsAddress> metrics;  // none: no server of metrics
  std::string state;                      // folder of applied configurations; empty: none are kept
  std::string accounting;                 // folder of customers' accounts; empty: none are kept
  std::string control;  // folder of the control socket; empty: the usual one; "off": none
  size_t netlink_buffer = KernelReader::Limits().receive_buffer;  // B
  bool remove_interfaces = false;  // those in Linux that outlived earlier processes; then exit
};

/// The options, or the exit code after help or an error message has been printed.
tl::expected<Options, int> parse_options(int argc, char** argv);

}  // namespace turnpike::router
