// SPDX-License-Identifier: BSD-3-Clause
// All that is not plain forwarding: the router's own traffic, ICMP errors, fragmentation.
#pragma once

#include "router/datapath/local/local_tx.h"

namespace turnpike::router {

/// Deals with a burst's `local` and `oversized` sets and sends the ICMP errors that its `dropped`
/// set calls for. Afterwards only `forward` and `dropped` have members.
void local_input(Burst& burst, WorkerContext& context);

}  // namespace turnpike::router
