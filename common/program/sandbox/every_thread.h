// SPDX-License-Identifier: BSD-3-Clause
// Runs a function on every thread of the process. Linux keeps capabilities, no_new_privs and
// Landlock domains per thread, and DPDK has started its threads before the ports are open.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace turnpike {

/// Runs `act(argument)` on the calling thread, then on every other thread by a signal, one after
/// another, until no thread is left that has not run it. Threads that a thread starts afterwards
/// are not visited: they inherit. `act` must be async-signal-safe and returns 0 or an errno. The
/// error names the first thread on which it failed, or that takes no signals for 2 s; threads
/// visited before it have changed. One call at a time in a process. libpsx has the same function,
/// but Debian 12's sees only threads whose creation it was linked into, not DPDK's.
tl::expected<void, std::string> on_every_thread(int (*act)(void* argument), void* argument);

}  // namespace turnpike
