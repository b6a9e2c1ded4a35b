// SPDX-License-Identifier: BSD-3-Clause
// The stages of a packet's egress link: police, price, enqueue.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Runs police -> price -> enqueue on each group of packets in Burst::forward with the same link.
/// Empties `forward`: every packet is enqueued, sent, or moved to `dropped`.
void forward(Burst& burst, WorkerContext& context);
/// The same, with a note of the packets that the trace has chosen.
void forward(Burst& burst, WorkerContext& context, Trace& trace);

}  // namespace turnpike::router
