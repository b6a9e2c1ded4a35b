// SPDX-License-Identifier: BSD-3-Clause
// A router's rates between two answers to the request "top".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace turnpike::ops {

using Json = nlohmann::ordered_json;

/// A drop reason: packets a second, and since the start.
struct TopDrops {
  std::string reason;
  double per_s = 0, total = 0;
};

struct TopLink {
  std::string name;
  bool up = true;
  double capacity_bps = 0, price = 0;  // price in $/B
  double tx_bps = 0, offered_bps = 0;  // as the capacity counts bytes
  double rx_pps = 0, tx_pps = 0;
  double utilization = 0;  // 0 to 1
  double queue_bytes = 0, queue_packets = 0, buffer_bytes = 0;
  double delay_s = 0;  // of the queue at the link's rate
  double drops_per_s = 0, drops = 0;
  std::vector<TopDrops> reasons;  // not zero, most first
  Json gauges = Json::object(), port = Json::object(), delays = Json::object();
};

struct TopLcore {
  unsigned lcore = 0, worker = 0;
  double busy = 0, stalled = 0;  // shares of the interval, 0 to 1
  double rx_pps = 0;
  double cycles = 0;                                   // per packet; 0: no timed poll received one
  std::vector<std::pair<std::string, double>> stages;  // cycles per packet by stage
};

struct TopCustomer {
  std::string name;
  double budget = 0;  // $/s
  double drops_per_s = 0, drops = 0;
};

/// A customer of a gateway.
struct TopTunnels {
  std::string name, state;
  double offered_bps = 0, sent_bps = 0;  // without and with the headers of tunnels
  double spend = 0, budget = 0;          // $/s
  double price = 0;                      // $/B, mean of the interval
  double wait_p99_s = 0;                 // of the interval's packets
  double drops_per_s = 0, marks_per_s = 0;
};

/// A flow that leaves by the link of the page.
struct TopFlow {
  std::string customer, source, destination;
  double rate_bps = 0, price = 0, spend = 0;  // price in $/B, spend in $/s
};

struct TopView {
  std::string router, version;
  double uptime_s = 0, interval_s = 0;
  double rx_pps = 0, tx_pps = 0, drops_per_s = 0, held = 0;
  std::vector<TopLink> links;    // in the topology's order
  std::vector<TopLcore> lcores;  // by worker
  std::vector<TopDrops> drops;   // of all links, most a second first
  std::vector<TopCustomer> customers;
  std::vector<TopTunnels> tunnels;  // of a gateway, those that spend most first
  double tunnel_customers = 0;      // all that have sent packets
  std::vector<TopFlow> flows;       // of the link that is shown alone, those that spend most first
};

/// The flows of an answer to the request "flows".
std::vector<TopFlow> top_flows(const Json& answer);

/// The rates between two answers; of the first one alone since the start (`before` is null). A
/// counter that went back, after a restart of the router, counts from 0.
TopView top_view(const Json& before, const Json& now);

/// For `turnpike top --json`.
Json top_json(const TopView& view);

enum class TopOrder : uint8_t { kName, kPrice, kRate, kQueue, kDrops, kCount };
/// "name", "price", "rate", "queue", "drops".
std::string_view name_of(TopOrder order);
/// Sorts links: names ascending, figures descending; ties by name.
void sort_links(std::vector<TopLink>& links, TopOrder order, bool reverse);

}  // namespace turnpike::ops
