// SPDX-License-Identifier: BSD-3-Clause
// Plays a topology with real routers and a real sender on this machine, and checks the shares.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "common/config/exit_codes.h"
#include "common/config/topology.h"
#include "common/report/live.h"
#include "lab/supervise.h"

namespace turnpike::lab {

/// Looks next to the tools, then in the build tree. Empty if there is no such program near
/// `executable`.
std::string find_program(const std::string& executable, const std::string& name);
/// configs/demo.yaml below the current folder, or near `executable`; empty if it is nowhere.
std::string find_demo_file(const std::string& executable);

/// The processes that play `file`: a router program per router, one sender for all hosts.
ProcessSet processes_for(const config::Topology& topology, const std::string& file,
                         const std::string& router_program, const std::string& sender_program,
                         const std::string& folder);

/// The same file on the virtual clock, by the program at `turnpike`.
Command reference_for(const std::string& turnpike, const std::string& file,
                      const std::string& folder);

/// Plays the reference, where there is one. Then runs the processes with a live view on `out` and
/// measures the time that the machine takes from them. Joins the results in `folder`, prints the
/// verdict and returns kExitOk, or kExitRuntime where it is not good. On the virtual clock shares
/// must be exact; in real time they may be off by the file's tolerance and by the time taken. A
/// child's failure is passed on with its exit code.
int play(const config::Topology& topology, const std::optional<Command>& reference,
         const ProcessSet& processes, const std::string& folder, report::LiveStyle style,
         std::FILE* out);

}  // namespace turnpike::lab
