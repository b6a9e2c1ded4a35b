// SPDX-License-Identifier: BSD-3-Clause
// What one trial came to, and whether it was the device that decided it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace turnpike::lab {

/// All streams together; of latencies the worst stream's, in us.
struct Trial {
  double share = 0;        // of the file's rates
  double offered_pps = 0;  // what was due
  double carried_pps = 0;  // what arrived
  double l1_mbps = 0;      // carried, with preambles and gaps
  // Of what was due: lost on the way, or refused by the device's port; 1 where too few were due.
  double loss = 1;
  double busy = 0;  // share of time, of the sender's busiest lcore; 0 where it is not real
  double p50 = 0, p99 = 0, p999 = 0, max = 0;
  uint64_t reordered = 0, duplicates = 0;
  // Why it says nothing about the device where it failed; empty: it was valid.
  std::vector<std::string> faults;
};

/// From the sender's summary.json and the routers' own files. A port that takes no more packets is
/// the device's doing (`loopback`: the generator's own): what was due and found no room there
/// counts as lost. What was due and not sent for other reasons is the generator's fault; so are
/// buffers that ran out at either, and time that the machine took from either.
Trial judge(double share, const nlohmann::json& summary, std::span<const nlohmann::json> routers,
            bool loopback = false);

nlohmann::ordered_json trial_json(const Trial& trial);

}  // namespace turnpike::lab
