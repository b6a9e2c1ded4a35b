// SPDX-License-Identifier: BSD-3-Clause
// The sender's platform among its results: platform-sender.json.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "sender/program/lcore_runner.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// The platform_json() of these runners, with their "ports" by host. `lcores`: the CPUs of the
/// runners. Call it when the ports have started, and before a sandbox closes /sys.
nlohmann::ordered_json describe_platform(const config::Topology& topology,
                                         std::span<const std::unique_ptr<LcoreRunner>> runners,
                                         std::span<const unsigned> lcores);

/// Adds "busy" and "stalled_ms" of each lcore to `platform` and writes it into `folder`. The error
/// has the path.
tl::expected<void, std::string> write_platform(nlohmann::ordered_json platform,
                                               std::span<const LcoreReading> lcores,
                                               const std::string& folder);

/// Its file in the folder of results.
std::string platform_name();

}  // namespace turnpike::sender
