// SPDX-License-Identifier: BSD-3-Clause
// The verbs of `turnpike` that talk to a running router: each adds its subcommand, and when that
// was chosen sets the exit code.
#pragma once

#include <CLI/App.hpp>

#include "common/config/exit_codes.h"

namespace turnpike::ops {

/// `turnpike show WHAT`: tables of a running router's state.
void add_show(CLI::App& app, ExitCode& code);
/// `turnpike show flows`.
void add_show_flows(CLI::App& show, ExitCode& code);
/// `turnpike reload [FILE]`, `commit`, `rollback [N]`: changes its configuration.
void add_reload(CLI::App& app, ExitCode& code);
void add_commit(CLI::App& app, ExitCode& code);
void add_rollback(CLI::App& app, ExitCode& code);
/// `turnpike bypass CUSTOMER`: a gateway carries a customer's packets without a price.
void add_bypass(CLI::App& app, ExitCode& code);

/// `turnpike accounts FILE...`: accounts of customers beside what fixed-rate shapers would give.
void add_accounts(CLI::App& app, ExitCode& code);

/// `turnpike top`: a running router on a full screen.
void add_top(CLI::App& app, ExitCode& code);

/// `turnpike trace`: the stages that the next packets pass.
void add_trace(CLI::App& app, ExitCode& code);
/// `turnpike capture`: packets in a pcapng file.
void add_capture(CLI::App& app, ExitCode& code);
/// `turnpike doctor [FILE]`: what hinders a router on this machine.
void add_doctor(CLI::App& app, ExitCode& code);
/// `turnpike support`: an archive of all that helps to find a fault.
void add_support(CLI::App& app, ExitCode& code);

}  // namespace turnpike::ops
