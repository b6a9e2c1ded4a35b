// SPDX-License-Identifier: BSD-3-Clause
// The slow path: the router's own traffic, ICMP errors, fragmentation.
#pragma once

#include "router/datapath/local/local_tx.h"

namespace turnpike::router {

/// Handles a burst's `local` and `oversized` sets, drops its `unresolved` set, and sends ICMP
/// errors for its `dropped` set. Linux as control plane has taken its packets before. Afterwards
/// only `forward` and `dropped` have members.
void local_input(Burst& burst, WorkerContext& context);

}  // namespace turnpike::router
