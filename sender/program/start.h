// SPDX-License-Identifier: BSD-3-Clause
// The start of a run: at once, or at a time that a coordinator of several senders names.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/time/clock.h"

namespace turnpike::sender {

struct Start {
  TscClock clock;  // 0 at the start
  double unix_s;   // the start by the machine's clock
};

/// Now.
Start start_now();

/// Writes {"ready":true} to standard output, reads a line from standard input, the start as UNIX
/// time in ns by this machine's clock, and waits until then. A start that has passed is one that
/// this process was late for. The error: no such line comes, or a signal.
tl::expected<Start, std::string> start_as_told();

}  // namespace turnpike::sender
