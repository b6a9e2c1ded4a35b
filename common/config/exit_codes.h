// SPDX-License-Identifier: BSD-3-Clause
// Exit codes, the same for all programs.
#pragma once

namespace turnpike {

enum ExitCode : int {
  kExitOk = 0,
  kExitRuntime = 1,           // it started and failed
  kExitUsage = 2,             // the command line is wrong
  kExitBadConfiguration = 3,  // the topology file is wrong; nothing was started
  kExitHostNotReady = 4,      // hugepages, ports or privileges; the message names the remedy
};

}  // namespace turnpike
