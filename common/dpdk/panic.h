// SPDX-License-Identifier: BSD-3-Clause
// Turns DPDK's panics into errors, where the process would end with SIGABRT and a stack trace.
#pragma once

#include <string>

namespace turnpike {

/// Calls `run(argument)`, C code of DPDK's. Returns an empty string, or DPDK's message if it
/// panicked on this thread. After a panic, `run` was left by longjmp() and leaks all it held: the
/// caller should exit.
std::string panic_in(void (*run)(void* argument), void* argument);

}  // namespace turnpike
