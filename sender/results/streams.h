// SPDX-License-Identifier: BSD-3-Clause
// What open-loop streams came to, for summary.json and for people.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/config/topology.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// Share of the packets due that a sender may have left out and still have kept up.
inline constexpr double kMaxUnsent = 1e-3;

/// By stream. Of its sending end: offered_packets, sent_packets, unsent_packets, offered_pps,
/// achieved_pps, achieved_l1_mbps, achieved_l2_mbps, no_buffer, no_room (times), kept_up, lag_us.
/// Of its receiving end: received_packets, lost_packets and loss (of what was sent),
/// reordered_packets, duplicate_packets, too_old_packets, strange_packets, untimed_packets,
/// latency_us, and stamped_by: whose clock it was when they left. A sender that did not play an end
/// leaves its figures out; without the sending end, lost are the numbers missing below the
/// greatest.
nlohmann::json streams_json(const config::Topology& topology, const Record& record,
                            const RunEnd& end);

/// Two lines or three a stream, from a run's summary; empty without streams.
std::string streams_text(const nlohmann::json& summary);

}  // namespace turnpike::sender
