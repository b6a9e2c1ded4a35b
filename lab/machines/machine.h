// SPDX-License-Identifier: BSD-3-Clause
// A machine that takes part in a run, as its coordinator sees it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/report/whole_file.h"
#include "lab/child.h"
#include "lab/machines/clock_offset.h"
#include "lab/machines/place.h"

namespace turnpike::lab {

/// A process of an agent.
struct RemoteProcess {
  std::string name;  // for messages: program, nodes, machine
  bool sender = false;
  bool up = false;  // it has opened its ports
  std::optional<int> exit_code = {};
};

/// The connection to a machine's agent, and what has been heard of it.
class Machine {
 public:
  /// `connection`: the child that is, or leads to, the agent.
  Machine(Place where, Child connection);

  /// Sends a request of `turnpike agent`. False: the connection has ended.
  bool ask(const nlohmann::json& request) { return agent.write_line(request.dump()); }
  [[nodiscard]] bool lost() const { return agent.ended(); }
  /// Whether all processes have ended, as far as can be known.
  [[nodiscard]] bool idle() const;

  Place place;
  Child agent;
  std::vector<RemoteProcess> processes;  // as the agent counts them
  std::string version;                   // of the agent; empty: it has not said it
  ClockOffset clock;
  bool synchronized = false;  // its kernel's opinion of its clock
  int64_t asked_clock = 0;    // when it was asked for its time; 0: it has answered
  bool playing = false, fetched = false;
  std::optional<report::WholeFile> file;  // that is being received
  std::string file_name;
  std::string record;  // of its sender
};

}  // namespace turnpike::lab
