// SPDX-License-Identifier: BSD-3-Clause
// The stages that a packet passes for its egress link: police, price, enqueue.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Runs police -> price -> enqueue over each group of packets in Burst::forward that go to one
/// link. Afterwards `forward` is empty: every packet was enqueued, sent, or moved to `dropped`.
void forward(Burst& burst, WorkerContext& context);

}  // namespace turnpike::router
