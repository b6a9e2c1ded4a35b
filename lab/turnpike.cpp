// SPDX-License-Identifier: BSD-3-Clause
// `turnpike VERB ...`: the tools around router and sender. They need no privileges, no NIC and no
// hugepages.
#include <CLI/CLI.hpp>

#include "lab/verbs.h"

int main(int argc, char** argv) {
  using namespace turnpike;
  CLI::App app("Tools for Turnpike topologies.", "turnpike");
  app.require_subcommand(1);
  ExitCode code = kExitOk;
  lab::add_check(app, code);
  lab::add_schema(app, code);
  lab::add_demo(app, code);
  lab::add_lab(app, code);
  lab::add_sweep(app, code);
  lab::add_paper(app, code);
  lab::add_bench(app, code);
  lab::add_report(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kExitOk : kExitUsage;  // 0: help was asked for
  }
  return code;
}
