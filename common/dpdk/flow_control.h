// SPDX-License-Identifier: BSD-3-Clause
// Ethernet flow control of a port by pause frames (IEEE 802.3 annex 31B, "802.3x").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "common/dpdk/extended_stats.h"

namespace turnpike {

enum class FlowControl : uint8_t {
  kOff,
  kRx,  // obeys pause frames of the neighbour
  kTx,  // sends pause frames when its receive buffer fills
  kOn,  // both
};

/// "off", "rx", "tx" or "on".
std::string_view name_of(FlowControl mode);

/// The flow control that is in force; none: the driver does not tell. With autonegotiation it may
/// be less than was set, and follows when the link comes up.
std::optional<FlowControl> flow_control_of(uint16_t port);

/// Sets the flow control of a started port and keeps its other parameters (thresholds, pause time).
/// The error: the driver's reason.
tl::expected<void, std::string> set_flow_control(uint16_t port, FlowControl mode);

/// Pause frames since the driver began to count; none: it does not count them.
struct PauseFrames {
  std::optional<uint64_t> received, sent;
};
/// Adds them up from a port's extended statistics, whose names differ by driver.
PauseFrames pause_frames(std::span<const ExtendedStat> stats);

}  // namespace turnpike
