// SPDX-License-Identifier: BSD-3-Clause
// Runs routers and a sender beside each other until the sender is done or somebody fails.
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

/// Who failed first.
struct Failure {
  int exit_code = 0;  // for this process: the child's own, or 1 where a signal ended it
  std::string text;
};
using OnLine = std::function<void(const Command& who, const std::string& line)>;

/// Starts the routers and, once each has written a line and so is up, the sender; hands every line
/// that they write to `on_line`, and returns when all have ended. When the sender ends, routers are
/// asked to (TERM) and have `grace_ms` to do it. INT, TERM and HUP to this process go to the
/// sender, which then ends its run early; a second one goes to all. Nothing if everybody ended
/// well; otherwise who failed first, with the end of its log.
tl::expected<void, Failure> supervise(const ProcessSet& processes, const OnLine& on_line,
                                      int grace_ms = 15000);

}  // namespace turnpike::lab
