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
  double loss = 1;         // share of the packets, see Refusals; 1 where too few were due
  double busy = 0;         // share of time, of the sender's busiest lcore; 0 on a virtual clock
  double cycles = 0;       // per packet, of the dearest router's lcores; 0: not measured
  double p50 = 0, p99 = 0, p999 = 0, max = 0;
  uint64_t reordered = 0, duplicates = 0;
  // Why a failed trial does not count against the device; empty: it was valid.
  std::vector<std::string> faults;
};

/// Why a port of the sender took no more packets.
enum class Refusals : uint8_t {
  kDevice,     // a memif's other end reads too slowly: what it refused is lost by the device
  kGenerator,  // in loopback the generator is its own device: all that it did not send is its fault
  // A NIC sends at the rate of its line, whatever the device does. Where the generator kept up
  // (sender::kMaxUnsent), loss is of the packets sent: a line's clock may be a little slower than
  // the machine's.
  kNic,
};

/// Evaluates the sender's summary.json and the routers' files. Loss is of the packets that were
/// due, except for kNic. A fault of the setup is: packets that were due and were not sent for other
/// reasons than the device's refusal, buffers that ran out in sender or router, and time that the
/// machine took from either.
Trial evaluate(double share, const nlohmann::json& summary, std::span<const nlohmann::json> routers,
               Refusals refusals = Refusals::kDevice);

/// Cycles per packet of a router's lcores together, weighted by their packets, from its platform
/// file; 0: it has none.
double cycles_per_packet(const nlohmann::json& platform);

nlohmann::ordered_json trial_json(const Trial& trial);

}  // namespace turnpike::lab
