// SPDX-License-Identifier: BSD-3-Clause
// Where DPDK would end the process with SIGABRT and a stack although there is somebody to tell.
#pragma once

#include <string>

namespace turnpike {

/// Calls `run(argument)`, C code of DPDK's. Empty, or what DPDK said when it panicked there, on
/// this thread: `run` was left at that point, and whatever it holds is lost, so little but exiting
/// is left to do.
std::string panic_in(void (*run)(void* argument), void* argument);

}  // namespace turnpike
