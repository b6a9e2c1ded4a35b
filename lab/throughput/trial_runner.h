// SPDX-License-Identifier: BSD-3-Clause
// Plays trials: with programs on real ports, here or on several machines, or in this process on a
// virtual clock.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "lab/machines/place.h"

namespace turnpike::lab {

/// Platform files by program: "router gate", "sender"; none on a virtual clock.
using Platforms = std::map<std::string, nlohmann::json>;

/// Results of one run.
struct Played {
  nlohmann::json summary;               // the sender's
  std::vector<nlohmann::json> routers;  // router-NAME.json, in the order of the file
  Platforms platforms = {};
};

class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  /// Plays the topology from beginning to end, and until all packets have arrived.
  virtual tl::expected<Played, std::string> play(const config::Topology& topology) = 0;
};

/// Options of the programs beside those that a trial needs.
struct ProgramOptions {
  std::vector<std::string> router = {}, sender = {};
};

/// Starts a program per router and one sender, as the demo does, with results and logs in `folder`,
/// which each run overwrites. `self` is this program's path; the others lie near it.
tl::expected<std::unique_ptr<TrialRunner>, std::string> on_real_ports(const std::string& self,
                                                                      const std::string& folder,
                                                                      ProgramOptions options = {});

/// The machines of trials, see MachinesRun.
struct TrialMachines {
  std::vector<Place> places;
  std::vector<std::string> ssh;
  std::string program;
};
/// Plays each trial as `turnpike run` does, with results and logs in `folder`.
std::unique_ptr<TrialRunner> on_several_machines(TrialMachines machines, const std::string& folder,
                                                 ProgramOptions options = {});

/// Plays trials in the simulator; EAL must be up.
std::unique_ptr<TrialRunner> on_a_virtual_clock(const std::string& folder);

}  // namespace turnpike::lab
