// SPDX-License-Identifier: BSD-3-Clause
// A router's platform among its results: platform-router-NAME.json.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "router/program/engine.h"
#include "router/telemetry/figures.h"

namespace turnpike::router {

/// Figures of lcores, by worker: "worker", "lcore", "rx_packets", "busy" (share of the time),
/// "cycles_per_packet" (all stages, of the polls that were timed; null: none was), "stalled_ms".
/// `received`: packets by worker.
nlohmann::ordered_json lcores_json(std::span<const LcoreFigures> lcores,
                                   std::span<const uint64_t> received);

/// Adds the lcores' figures and the ports by link to `platform`, a platform_json(), and writes it
/// for router `node` into `folder`. Call it when the workers have ended. The error has the path.
tl::expected<void, std::string> write_platform(nlohmann::ordered_json platform,
                                               const Engine& engine, const std::string& node,
                                               const std::string& folder);

}  // namespace turnpike::router
