// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/command_line.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <span>
#include <utility>

#include <CLI/CLI.hpp>

#include "common/config/exit_codes.h"
#include "common/config/yaml_writer.h"
#include "common/program/command_pages.h"
#include "common/units/text.h"

namespace turnpike {

void add_time(CLI::App& app, const std::string& name, std::function<void(Nanos)> set,
              const std::string& help, Nanos least) {
  const auto take = [name, least, set = std::move(set)](const std::string& text) {
    const auto time = parse_quantity<Nanos>(text);
    if (!time) throw CLI::ValidationError(name, time.error());
    if (*time <= Nanos(0))
      throw CLI::ValidationError(name, "'" + text + "' is not a positive time");
    if (*time < least)
      throw CLI::ValidationError(name, "'" + text + "' is less than " + to_text(least));
    set(*time);
  };
  app.add_option_function<std::string>(name, take, help)->type_name("TIME");
}

void add_seed(CLI::App& app, std::optional<uint64_t>& seed) {
  const auto take = [&seed](const std::string& text) {
    uint64_t value = 0;
    const char* const end = text.data() + text.size();
    if (const auto [last, error] = std::from_chars(text.data(), end, value);
        error != std::errc() || last != end)
      throw CLI::ValidationError("--seed",
                                 "'" + text + "' is not a whole number from 0 to 2^64 - 1");
    seed = value;
  };
  app.add_option_function<std::string>("--seed", take, "instead of the file's")->type_name("UINT");
}

std::string number_within(const std::string& text, double least, double most) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && last == end && value >= least && value <= most) return {};
  return "'" + text + "' is not a number from " + config::number(least) + " to " +
         config::number(most);
}

bool has_empty_argument(std::span<char* const> arguments, const char* program) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") return false;
    if (!argument.empty() && !(argument.starts_with("--") && argument.ends_with('='))) continue;
    std::fprintf(stderr, "%s: argument %zu%s is empty\n", program, i,
                 argument.empty() ? "" : (", " + std::string(argument) + ",").c_str());
    return true;
  }
  return false;
}

tl::expected<void, int> parse_command_line(int argc, char** argv, const ProgramFacts& program,
                                           CommandLine& out,
                                           const std::function<void(CLI::App&)>& own) {
  const std::span<char*> all(argv, static_cast<size_t>(argc));
  if (has_empty_argument(all, program.name.c_str())) return tl::unexpected(int{kExitUsage});
  const auto split = std::ranges::find(all, std::string("--"));
  if (split != all.end()) out.eal.assign(split + 1, all.end());

  CLI::App app(program.description, program.name);
  app.footer(
      "Arguments for DPDK's EAL may follow after --; all are optional.\n"
      "Signals: TERM, INT and HUP end the run, a second one without waiting for flows and queues, "
      "a "
      "third one at once; PIPE, USR1 and USR2 are ignored.\n"
      "Exit codes: 0 success, 1 failure or incomplete run, 2 usage error, 3 invalid topology file, "
      "4 host not ready.");
  app.add_option("FILE", out.file, "topology file (YAML)")->required();
  app.add_option("--node", out.nodes, "nodes to run, comma-separated")->delimiter(',');
  app.add_option("--lcores", out.lcores, "CPUs to run them on, comma-separated")->delimiter(',');
  app.add_option("--live", out.live, "live view during the run")
      ->check(CLI::IsMember({"auto", "table", "lines", "json", "off"}));
  app.add_option("--idle", out.idle,
                 "idle lcores: keep polling, or sleep briefly (auto: poll with NICs)")
      ->check(CLI::IsMember({"auto", "poll", "sleep"}));
  app.add_option("--sandbox", out.sandbox,
                 "privileges given up once the ports are open (auto: all that the kernel can take)")
      ->check(CLI::IsMember({"auto", "on", "off"}));
  add_time(
      app, "--wait", [&out](Nanos t) { out.wait = t; },
      "how long to wait for peers (default: 30s)");
  app.add_option("--out", out.output, "folder for the results (default: the file's run.output)")
      ->type_name("DIR");
  add_time(
      app, "--duration", [&out](Nanos t) { out.duration = t; }, "such as 5s");
  app.add_flag("--hugepages", out.hugepages, "take memory from hugepages");
  app.add_flag("--dpdk-log", out.show_log, "show DPDK's own messages");
  own(app);
  add_page_options(app, program.version_line);
  try {
    app.parse(static_cast<int>(split - all.begin()), argv);
  } catch (const CLI::ParseError& e) {
    return tl::unexpected(app.exit(e) == 0 ? int{kExitOk} : int{kExitUsage});
  }
  return {};
}

}  // namespace turnpike
