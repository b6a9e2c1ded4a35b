// SPDX-License-Identifier: BSD-3-Clause
// Lines of the log about the NICs of a router: drivers, offloads, flow control, and their limits.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/dpdk/port.h"

namespace turnpike::router {

/// A line for every NIC among the ports: its driver, the offloads that are on, its flow control.
/// `links`: names, by port.
std::vector<std::string> nic_texts(std::span<const Port> ports, std::span<const std::string> links);

/// A line for every NIC that does not spread all packets over its queues, with the way out.
std::vector<std::string> spread_warnings(std::span<const Port> ports,
                                         std::span<const std::string> links);

}  // namespace turnpike::router
