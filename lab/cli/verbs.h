// SPDX-License-Identifier: BSD-3-Clause
// The verbs of `turnpike`: each adds its subcommand, and when that was chosen sets the exit code.
#pragma once

#include <CLI/App.hpp>

#include "common/config/exit_codes.h"

namespace turnpike::lab {

/// `turnpike check FILE...`: every mistake, or a description of the run.
void add_check(CLI::App& app, ExitCode& code);
/// `turnpike schema`: the topology file's JSON Schema.
void add_schema(CLI::App& app, ExitCode& code);
/// `turnpike demo [FILE]`: plays a topology with real processes and checks the shares.
void add_demo(CLI::App& app, ExitCode& code);
/// `turnpike run FILE`: routers and senders on several machines.
void add_run(CLI::App& app, ExitCode& code);
/// `turnpike agent`: what `turnpike run` starts on them.
void add_agent(CLI::App& app, ExitCode& code);
/// `turnpike lab FILE`: plays a topology on a virtual clock.
void add_lab(CLI::App& app, ExitCode& code);
/// `turnpike sweep FILE`: the lab over combinations of settings and seeds.
void add_sweep(CLI::App& app, ExitCode& code);
/// `turnpike paper [ID...]`: plays the papers' experiments and checks their claims.
void add_paper(CLI::App& app, ExitCode& code);
/// `turnpike bench throughput FILE`: the rate that a file's routers carry, by trials.
void add_bench(CLI::App& app, ExitCode& code);
/// `turnpike report DIR`: renders the report of a run's folder.
void add_report(CLI::App& app, ExitCode& code);

}  // namespace turnpike::lab
