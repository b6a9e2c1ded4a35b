// SPDX-License-Identifier: BSD-3-Clause
// Runs many programs, a limited number at a time.
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

/// Runs all commands, at most `at_once` (at least 1) at a time, started in their order. Calls
/// `on_end` at each end. A failure stops no other command. Returns false when INT or TERM arrived:
/// the commands that still ran have been killed.
bool run_jobs(std::span<const Command> commands, unsigned at_once,
              const std::function<void(const JobEnd&)>& on_end);

/// Processors that this process may use.
unsigned processors();

/// How many runs keep the processors busy: at its start each waits 0.1 s for DPDK, which measures
/// the processor's clock.
inline unsigned runs_at_once() { return processors() + 1; }

}  // namespace turnpike::lab
