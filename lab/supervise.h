// SPDX-License-Identifier: BSD-3-Clause
// Runs routers and a sender together until the sender ends or a process fails.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/child.h"

namespace turnpike::lab {

struct ProcessSet {
  std::vector<Command> routers;
  Command sender;
};

/// The first process that failed.
struct Failure {
  int exit_code = 0;  // for this process: the child's own, or 1 where a signal ended it
  std::string text;
};
using OnLine = std::function<void(const Command& who, const std::string& line)>;

/// Starts the routers and, once each has written a line and so is up, the sender. Passes every line
/// that they write to `on_line`, and returns when all have ended. When the sender ends, sends TERM
/// to the routers, which then have `grace_ms` to end. Forwards INT, TERM and HUP to the sender,
/// which then ends its run early, and a second one to all. Returns no error if all ended well;
/// otherwise the first failure, with the end of that process's log.
tl::expected<void, Failure> supervise(const ProcessSet& processes, const OnLine& on_line,
                                      int grace_ms = 15000);

}  // namespace turnpike::lab
