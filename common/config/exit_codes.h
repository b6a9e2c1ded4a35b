// SPDX-License-Identifier: BSD-3-Clause
// Exit codes, the same for all programs.
#pragma once

namespace turnpike {

enum ExitCode : int {
  kExitOk = 0,
  kExitRuntime = 1,           // the run failed, or its results missed the expectation
  kExitUsage = 2,             // invalid command line
  kExitBadConfiguration = 3,  // invalid topology file; nothing was started
  kExitHostNotReady = 4,  // memory, hugepages, ports or privileges; the message names the remedy
};

}  // namespace turnpike
