// SPDX-License-Identifier: BSD-3-Clause
// The answer of `show tunnels`: what a gateway carries for whom.
#pragma once

#include "router/gateway/gateway.h"
#include "router/program/control_server.h"

namespace turnpike::router {

/// Customers that have sent something or are bypassed, one row each, their tunnels summed; then the
/// gateway's totals. `gateway`: null for other routers, whose answer has no rows. Any thread.
Json show_tunnels(const gateway::Gateway* gateway);

}  // namespace turnpike::router
