// SPDX-License-Identifier: BSD-3-Clause
// A gateway's customers as accounts, and its counters as figures.
#pragma once

#include <optional>
#include <vector>

#include "router/gateway/gateway.h"
#include "router/results/accounts.h"
#include "router/telemetry/figures.h"

namespace turnpike::router {

/// The accounts of all customers, by index; empty without a gateway. Any thread.
std::vector<Account> accounts_of(const gateway::Gateway* gateway);
/// The peers; empty without a gateway. Any thread.
std::vector<PeerFigures> peers_of(const gateway::Gateway* gateway);

/// Packets that the gateway refused; none: there is no gateway. Any thread.
std::optional<GatewayFigures> figures_of(const gateway::Gateway* gateway);

}  // namespace turnpike::router
