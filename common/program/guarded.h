// SPDX-License-Identifier: BSD-3-Clause
// Turns exceptions that reach main() into messages and exit codes.
#pragma once

#include <cstdio>
#include <exception>
#include <new>

#include "common/config/exit_codes.h"

namespace turnpike {

/// Runs `body`, which returns an exit code. std::bad_alloc becomes a message and kExitHostNotReady,
/// any other exception kExitRuntime.
template <class Body>
int guarded(const char* program, Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "%s: not enough memory: the machine or a memory limit of the process (ulimit -v) "
                 "or its control group is exhausted\n",
                 program);
    return kExitHostNotReady;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
    return kExitRuntime;
  }
}

}  // namespace turnpike
