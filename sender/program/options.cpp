// SPDX-License-Identifier: BSD-3-Clause
#include "sender/program/options.h"

#include <string>

#include <CLI/CLI.hpp>

#include "common/program/version.h"

namespace turnpike::sender {

tl::expected<Options, int> parse_options(int argc, char** argv) {
  Options o;
  const auto parsed = parse_command_line(
      argc, argv,
      {.name = "turnpike-sender",
       .description = "Emulates the hosts of a Turnpike topology: sends, receives, measures.",
       .version_line = version_line("turnpike-sender")},
      o, [&o](CLI::App& app) {
        add_seed(app, o.seed);
        app.add_flag("--coordinated", o.coordinated,
                     "start when standard input says, and write record.jsonl, as `turnpike run` "
                     "needs it");
      });
  if (!parsed) return tl::unexpected(parsed.error());
  return o;
}

}  // namespace turnpike::sender
