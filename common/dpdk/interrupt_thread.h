// SPDX-License-Identifier: BSD-3-Clause
// Taking turns with DPDK's interrupt thread, on which drivers connect, disconnect and free.
#pragma once

#include <functional>

namespace turnpike {

/// Runs `act` on the interrupt thread and waits for it: nothing of a driver's runs there meanwhile.
/// Where that thread takes no work, or is parked, `act` runs here.
void on_interrupt_thread(const std::function<void()>& act);

/// Keeps the interrupt thread busy with nothing for the rest of the process's life; once is enough.
/// Before ports are closed: no neighbour connects to one while it goes away, which memif's driver
/// does not survive.
void park_interrupt_thread();

}  // namespace turnpike
