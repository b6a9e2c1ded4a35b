// SPDX-License-Identifier: BSD-3-Clause
// `turnpike VERB ...`: the tools around router and sender. They need no privileges, no NIC and no
// hugepages.
#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "common/config/mistakes.h"
#include "common/program/command_line.h"
#include "common/program/command_pages.h"
#include "common/program/guarded.h"
#include "common/program/version.h"
#include "lab/cli/verbs.h"
#include "operator/verbs.h"

namespace {

/// Says so if the first argument was meant for a verb and is none.
bool no_verb(const CLI::App& app, std::span<char*> arguments) {
  if (arguments.size() < 2 || arguments[1][0] == '-') return false;
  const std::string word = arguments[1];
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (std::ranges::find(known, word) != known.end()) return false;
  std::fprintf(stderr, "turnpike: there is no verb '%s'%s\n", word.c_str(),
               turnpike::config::suggestion(word, known).c_str());
  return true;
}

/// Whether the end of standard output is missing: its disk is full. The reader of a pipe may have
/// gone on purpose, as `head` does.
bool output_is_cut() {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  struct stat out {};
  return failed && fstat(STDOUT_FILENO, &out) == 0 && !S_ISFIFO(out.st_mode) &&
         !S_ISSOCK(out.st_mode);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace turnpike;
  CLI::App app("Tools for Turnpike topologies.", "turnpike");
  app.require_subcommand(1);
  ExitCode code = kExitOk;
  lab::add_check(app, code);
  lab::add_schema(app, code);
  lab::add_demo(app, code);
  lab::add_run(app, code);
  lab::add_agent(app, code);
  lab::add_lab(app, code);
  lab::add_sweep(app, code);
  lab::add_paper(app, code);
  lab::add_bench(app, code);
  lab::add_report(app, code);
  ops::add_show(app, code);
  ops::add_reload(app, code);
  ops::add_commit(app, code);
  ops::add_rollback(app, code);
  ops::add_bypass(app, code);
  ops::add_accounts(app, code);
  ops::add_top(app, code);
  ops::add_trace(app, code);
  ops::add_capture(app, code);
  ops::add_doctor(app, code);
  ops::add_support(app, code);
  app.footer(
      "Start with: turnpike check configs/demo.yaml, turnpike lab configs/demo.yaml\n"
      "Exit codes: 0 success, 1 failure, 2 usage error, 3 invalid topology file, 4 host not ready");
  add_page_options(app, version_line("turnpike"));
  const std::span<char*> arguments(argv, static_cast<size_t>(argc));
  if (no_verb(app, arguments) || has_empty_argument(arguments, "turnpike")) return kExitUsage;
  const int ended = guarded("turnpike", [&]() -> int {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      return app.exit(e) == 0 ? kExitOk : kExitUsage;  // 0: help, a version or a page was asked for
    }
    return code;
  });
  if (!output_is_cut()) return ended;
  std::fputs("turnpike: standard output cannot be written to: its end is missing\n", stderr);
  return ended == kExitOk ? kExitRuntime : ended;
}
