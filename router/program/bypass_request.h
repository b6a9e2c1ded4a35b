// SPDX-License-Identifier: BSD-3-Clause
// Takes a customer out of a gateway's tunnels, and back.
#pragma once

#include <tl/expected.hpp>

#include "router/gateway/gateway.h"
#include "router/program/control_server.h"

namespace turnpike::router {

/// Answers {"request":"bypass","customer":NAME,"on":B}. `gateway`: null for other routers. Any
/// thread.
tl::expected<Json, Failure> bypass(const Json& request, gateway::Gateway* gateway);

}  // namespace turnpike::router
