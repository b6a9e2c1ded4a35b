// SPDX-License-Identifier: BSD-3-Clause
// Answers of `show neighbours`.
#pragma once

#include "router/program/show_routes.h"

namespace turnpike::router {

/// Answers {"request":"show","what":"neighbours"}: those that Linux knows, with its state of each
/// and the time since that began; without Linux as control plane those of the file. At most "limit"
/// (1,000) are listed, all are counted.
Json show_neighbours(const Json& request, const ShownRoutes& on, Nanos now);

}  // namespace turnpike::router
