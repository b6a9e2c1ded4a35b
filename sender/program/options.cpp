// SPDX-License-Identifier: BSD-3-Clause
#include "sender/program/options.h"

#include <string>

#include <CLI/CLI.hpp>

namespace turnpike::sender {

tl::expected<Options, int> parse_options(int argc, char** argv) {
  Options o;
  const auto parsed = parse_command_line(
      argc, argv, "Plays the hosts of a Turnpike topology: sends, receives, measures.", o,
      [&o](CLI::App& app) { app.add_option("--seed", o.seed, "instead of the file's"); });
  if (!parsed) return tl::unexpected(parsed.error());
  return o;
}

}  // namespace turnpike::sender
