// SPDX-License-Identifier: BSD-3-Clause
// Runs a topology on several machines, and joins their results.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/report/live.h"
#include "lab/machines/place.h"
#include "lab/supervise.h"

namespace turnpike::lab {

struct MachinesRun {
  std::string file;    // the topology
  std::string folder;  // for the results; exists
  std::vector<Place> places = {};
  std::vector<std::string> ssh = {"ssh"};  // command that ends with a host and a command
  std::string program;                     // path of `turnpike` on the other machines
  std::vector<std::string> router_options = {}, sender_options = {};
  report::LiveStyle style = report::LiveStyle::kNone;
};

/// How a run on several machines ended.
struct MachinesEnd {
  nlohmann::json summary;          // null: no sender has left a record
  std::optional<Failure> failure;  // of the process or machine that failed first
};

/// Starts an agent on each machine, gives it the topology and the files that it names, starts all
/// routers and senders, and once all are up gives the senders a common start. Shows a live view on
/// `out`. When all senders have ended, ends the routers, gathers the files of all, and writes the
/// results of the whole run to the folder, those of each machine below machines/. When a process or
/// a connection fails, ends all others within 2 s and gathers what they leave. The first signal
/// ends the senders as their own would, the second one everything.
MachinesEnd run_on_machines(const config::Topology& topology, const MachinesRun& run,
                            std::FILE* out);

}  // namespace turnpike::lab
