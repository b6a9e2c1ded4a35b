// SPDX-License-Identifier: BSD-3-Clause
// What the programs' exit codes mean, the same for all of them.
#pragma once

namespace turnpike {

enum ExitCode : int {
  kExitOk = 0,
  kExitRuntime = 1,           // it ran and failed
  kExitUsage = 2,             // the command line is wrong
  kExitBadConfiguration = 3,  // the topology file is wrong; nothing was started
  kExitHostNotReady = 4,      // hugepages, ports or privileges; the message names the remedy
};

}  // namespace turnpike
