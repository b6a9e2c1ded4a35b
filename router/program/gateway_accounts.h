// SPDX-License-Identifier: BSD-3-Clause
// A gateway's customers as accounts.
#pragma once

#include <vector>

#include "router/gateway/gateway.h"
#include "router/results/accounts.h"
#include "router/telemetry/figures.h"

namespace turnpike::router {

/// The accounts of all customers, by index; empty without a gateway. Any thread.
std::vector<Account> accounts_of(const gateway::Gateway* gateway);
/// The peers; empty without a gateway. Any thread.
std::vector<PeerFigures> peers_of(const gateway::Gateway* gateway);

}  // namespace turnpike::router
