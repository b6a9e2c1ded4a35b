// SPDX-License-Identifier: BSD-3-Clause
// Answers of `show routes` and `show linux`.
#pragma once

#include <tl/expected.hpp>

#include "router/program/control_server.h"
#include "router/program/linux_control.h"
#include "router/router.h"

namespace turnpike::router {

/// The state that the answers are made of.
struct ShownRoutes {
  const config::Topology& topology;
  size_t node;  // index of the router
  const Router& router;
  const LinuxControl* linux_control;  // null: Linux is not the control plane
};

/// Answers {"request":"show","what":"routes"}; with "diff":"kernel" compares them with Linux's,
/// with "prefix" only those that contain an address, or are contained in a prefix. At most "limit"
/// (1,000) are listed, all are counted.
tl::expected<Json, Failure> show_routes(const Json& request, const ShownRoutes& on);
/// Answers {"request":"show","what":"linux"}: the health of netlink and of the punt path.
tl::expected<Json, Failure> show_linux(const ShownRoutes& on);

}  // namespace turnpike::router
