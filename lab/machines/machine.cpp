// SPDX-License-Identifier: BSD-3-Clause
#include "lab/machines/machine.h"

#include <algorithm>
#include <utility>

namespace turnpike::lab {

Machine::Machine(Place where, Child connection)
    : place(std::move(where)), agent(std::move(connection)) {
  for (const std::string& router : place.routers)
    processes.push_back({.name = "turnpike-router (" + router + ") on " + place.name()});
  if (place.hosts.empty()) return;
  std::string hosts;
  for (const std::string& host : place.hosts) hosts += (hosts.empty() ? "" : ", ") + host;
  processes.push_back(
      {.name = "turnpike-sender (" + hosts + ") on " + place.name(), .sender = true});
}

bool Machine::idle() const {
  return lost() || !playing || std::ranges::all_of(processes, [](const RemoteProcess& p) {
           return p.exit_code.has_value();
         });
}

}  // namespace turnpike::lab
