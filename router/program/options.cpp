// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/options.h"

#include <CLI/CLI.hpp>

#include "common/metrics/log.h"
#include "common/program/version.h"

namespace turnpike::router {

tl::expected<Options, int> parse_options(int argc, char** argv) {
  Options o;
  const auto parsed = parse_command_line(
      argc, argv,
      {.name = "turnpike-router",
       .description =
           "Forwards and prices packets as a router of a Turnpike topology, until INT or "
           "TERM or for --duration.",
       .version_line = version_line("turnpike-router")},
      o, [&o](CLI::App& app) {
        add_time(
            app, "--slack", [&o](Nanos t) { o.slack = t; },
            "link time that a late poll may catch up on (default: 64ms)");
        app.add_option("--log-level", o.log_level,
                       "lowest level logged: " + std::string(metrics::kLogLevels));
      });
  if (!parsed) return tl::unexpected(parsed.error());
  return o;
}

}  // namespace turnpike::router
