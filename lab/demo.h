// SPDX-License-Identifier: BSD-3-Clause
// Plays a topology with real routers and a real sender on this machine, and judges the outcome.
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

/// Where things are: next to the tools, or in the tree they were built in.
/// Empty if there is no such program near `executable`.
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

/// Plays the reference, where there is one, then runs the processes with a live view on `out` and
/// measures what the machine takes from it. Joins the results in `folder`, prints the verdict and
/// says whether it is good (kExitRuntime if not): the lab decides on the code, and real time may be
/// off by the file's tolerance and what the machine took. Children's failures come out as they are.
int play(const config::Topology& topology, const std::optional<Command>& reference,
         const ProcessSet& processes, const std::string& folder, report::LiveStyle style,
         std::FILE* out);

}  // namespace turnpike::lab
