// SPDX-License-Identifier: BSD-3-Clause
// Result of one trial, and whether the device or the test setup determined it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace turnpike::lab {

/// Totals of all streams; of latencies the worst stream's, us.
struct Trial {
  double share = 0;        // of the file's rates
  double offered_pps = 0;  // packets/s that were due
  double carried_pps = 0;  // packets/s that arrived
  double l1_mbps = 0;      // carried, with preambles and gaps
  // Share of the packets that were due: lost, or refused by the device's port; 1 where too few were
  // due.
  double loss = 1;
  double busy = 0;  // share of time, of the sender's busiest lcore; 0 on a virtual clock
  double p50 = 0, p99 = 0, p999 = 0, max = 0;
  uint64_t reordered = 0, duplicates = 0;
  // Why a failed trial does not count against the device; empty: it was valid.
  std::vector<std::string> faults;
};

/// Evaluates the sender's summary.json and the routers' files. Packets that a full port refused
/// count as lost by the device (`loopback`: by the generator). A fault of the setup is: packets
/// that were due and were not sent for other reasons, buffers that ran out in sender or router, and
/// time that the machine took from either.
Trial evaluate(double share, const nlohmann::json& summary, std::span<const nlohmann::json> routers,
               bool loopback = false);

nlohmann::ordered_json trial_json(const Trial& trial);

}  // namespace turnpike::lab
