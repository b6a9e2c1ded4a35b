// SPDX-License-Identifier: BSD-3-Clause
#include "sender/program/options.h"

#include <string>

#include <CLI/CLI.hpp>

namespace turnpike::sender {

tl::expected<Options, int> parse_options(int argc, char** argv) {
  Options o;
  const auto parsed = parse_command_line(
      argc, argv, "Plays the hosts of a Turnpike topology: sends, receives, measures.", o,
      [&o](CLI::App& app) {
        app.add_option("--seed", o.seed, "instead of the file's");
        app.add_option("--idle", o.idle,
                       "without packets: poll on, or sleep for moments (auto: poll with NICs)")
            ->check(CLI::IsMember({"auto", "poll", "sleep"}));
        app.add_option_function<std::string>("--wait", positive_time([&o](Nanos t) { o.wait = t; }),
                                             "how long to wait for links (default: 30s)");
      });
  if (!parsed) return tl::unexpected(parsed.error());
  return o;
}

}  // namespace turnpike::sender
