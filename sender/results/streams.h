// SPDX-License-Identifier: BSD-3-Clause
// Results of open-loop streams, for summary.json and as text.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/config/topology.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// Greatest share of due packets that a sender may skip and still count as kept_up.
inline constexpr double kMaxUnsent = 1e-3;

/// One object per stream. Sending end: offered_packets, sent_packets, unsent_packets, offered_pps,
/// achieved_pps, achieved_l1_mbps, achieved_l2_mbps, no_buffer, no_room (attempts), kept_up,
/// lag_us. Receiving end: received_packets, lost_packets and loss (of packets sent),
/// reordered_packets, duplicate_packets, too_old_packets, strange_packets, untimed_packets,
/// latency_us, and stamped_by: the clock of the send times. A sender omits the figures of an end
/// that it did not run; without the sending end, lost_packets counts the numbers missing below the
/// greatest.
nlohmann::json streams_json(const config::Topology& topology, const Record& record,
                            const RunEnd& end);

/// Two or three lines per stream, from a run's summary; empty without streams.
std::string streams_text(const nlohmann::json& summary);

}  // namespace turnpike::sender
