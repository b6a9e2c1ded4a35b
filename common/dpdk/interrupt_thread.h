// SPDX-License-Identifier: BSD-3-Clause
// Synchronises with DPDK's interrupt thread, on which drivers connect, disconnect and free.
#pragma once

#include <functional>

namespace turnpike {

/// Runs `act` on the interrupt thread and waits for it, so that no driver code runs there
/// meanwhile. Runs `act` on the calling thread if the interrupt thread takes no work or is parked.
void on_interrupt_thread(const std::function<void()>& act);

/// Blocks the interrupt thread for the rest of the process's life; further calls do nothing. Call
/// before ports are closed: memif's driver crashes if a neighbour connects to a port that is being
/// closed.
void park_interrupt_thread();

}  // namespace turnpike
