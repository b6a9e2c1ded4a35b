// SPDX-License-Identifier: BSD-3-Clause
// A router's figures as JSON, for `turnpike top`.
#pragma once

#include <nlohmann/json.hpp>

#include "router/telemetry/figures.h"

namespace turnpike::router {

/// Counters since the start, so that each client computes rates over its own interval:
///
///     {"router":..,"t":..,"links":[..],"lcores":[..],"customers":[..],"offenders":[..]}
///
/// Times in s, sizes in B, rates in bit/s, prices in $/B. "t" is the router's clock. Customers and
/// offenders are those with the most drops, at most kMaxNamed.
nlohmann::ordered_json figures_json(const Figures& figures);

}  // namespace turnpike::router
