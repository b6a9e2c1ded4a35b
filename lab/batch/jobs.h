// SPDX-License-Identifier: BSD-3-Clause
// Many programs, so many at a time.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "lab/child.h"

namespace turnpike::lab {

struct JobEnd {
  size_t job = 0;        // index among the commands
  std::string why = {};  // it failed, with the end of its log; empty: it ended well
  std::string output = {};
  double wall_s = 0;
};

/// Runs all commands, `at_once` (at least 1) at a time, started in their order, and tells of each
/// end as it comes. One that fails keeps none of the others from running. False: INT or TERM came,
/// and what still ran has been killed.
bool run_jobs(std::span<const Command> commands, unsigned at_once,
              const std::function<void(const JobEnd&)>& on_end);

/// Processors that this process may use.
unsigned processors();

}  // namespace turnpike::lab
