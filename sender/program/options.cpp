// SPDX-License-Identifier: BSD-3-Clause
#include "sender/program/options.h"

#include <algorithm>
#include <span>

#include <CLI/CLI.hpp>

#include "common/config/exit_codes.h"
#include "common/units/text.h"

namespace turnpike::sender {
namespace {

/// Reads a positive time with its unit into `out`; CLI11 wants the error as text.
auto positive_time(auto& out) {
  return [&out](const std::string& text) {
    const auto time = parse_quantity<Nanos>(text);
    if (!time) throw CLI::ValidationError(time.error());
    if (*time <= Nanos(0)) throw CLI::ValidationError("\"" + text + "\" is not a positive time");
    out = *time;
  };
}

}  // namespace

tl::expected<Options, int> parse_options(int argc, char** argv) {
  Options o;
  const std::span<char*> all(argv, static_cast<size_t>(argc));
  const auto split = std::ranges::find(all, std::string("--"));
  if (split != all.end()) o.eal.assign(split + 1, all.end());

  CLI::App app("Plays the hosts of a Turnpike topology: sends, receives, measures.");
  app.footer("Arguments for DPDK's EAL may follow after --; none is ever needed.");
  app.add_option("FILE", o.file, "topology file (YAML)")->required();
  app.add_option("--node", o.nodes, "hosts to play, comma-separated (default: all)")
      ->delimiter(',');
  app.add_option("--lcores", o.lcores, "CPUs to play them on, comma-separated")->delimiter(',');
  app.add_option("--live", o.live, "what to show while it runs")
      ->check(CLI::IsMember({"auto", "table", "lines", "json", "off"}));
  app.add_option("--out", o.output, "folder for the results (default: the file's run.output)");
  app.add_option_function<std::string>("--duration", positive_time(o.duration),
                                       "instead of the file's, such as 5s");
  app.add_option("--seed", o.seed, "instead of the file's");
  app.add_option_function<std::string>("--wait", positive_time(o.wait),
                                       "how long to wait for links to come up (default: 30s)");
  app.add_flag("--hugepages", o.hugepages, "take memory from hugepages");
  app.add_flag("--dpdk-log", o.show_log, "show DPDK's own messages");
  try {
    app.parse(static_cast<int>(split - all.begin()), argv);
  } catch (const CLI::ParseError& e) {
    return tl::unexpected(app.exit(e) == 0 ? int{kExitOk} : int{kExitUsage});
  }
  return o;
}

}  // namespace turnpike::sender
