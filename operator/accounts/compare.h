// SPDX-License-Identifier: BSD-3-Clause
// A gateway's accounts of a period beside what fixed-rate shapers would have carried.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "operator/accounts/read.h"
#include "operator/accounts/shaper.h"

namespace turnpike::ops {

using Json = nlohmann::ordered_json;

/// How a customer's bytes fared.
struct Outcome {
  double carried = 0;   // B
  double limited = 0;   // s in which bytes waited for its rate, budget or ceiling
  double wait_p99 = 0;  // s: 99 % of the carried bytes are of lines whose own p99 is at most this
};

struct Comparison {
  std::string customer = {};
  ShaperSpec spec = {};
  size_t lines = 0;
  double seconds = 0;               // of the lines
  double offered = 0;               // B
  double bytes = 0, spend = 0;      // B with the headers of tunnels, and $ for them
  double price = 0, price_p95 = 0;  // $/B: mean; 95 % of the bytes are of lines of at most this
  double ceiling = 0;               // s, the part of gateway.limited at the ceiling
  Outcome gateway = {}, shaper = {};
};

/// The fluid model over a customer's lines, in which nothing arrives between lines. `each`: gets
/// every line with what the shaper did in its period.
Comparison compare(const CustomerLines& customer, const ShaperSpec& spec,
                   const std::function<void(const AccountLine&, const Shaped&)>& each = {});

/// The least value up to which values have a share `q` of the weight. `values`: with their weights.
double weighted_percentile(std::vector<std::pair<double, double>> values, double q);

/// A period's comparisons, and what was assumed.
struct AccountReport {
  std::vector<std::string> files = {};
  double from = 0, to = 0;  // UNIX time, s
  double buffer_s = 0, burst = 0;
  std::vector<CustomerLines> accounts = {};
  std::vector<Comparison> customers = {};  // of the same index
};

/// Sums over all customers.
struct Total {
  double offered = 0, gateway = 0, shapers = 0;  // B: offered, carried, and by the model
  double spend = 0;                              // $
};
Total total_of(const AccountReport& report);
/// The sums as a sentence.
std::string total_text(const AccountReport& report);

/// Limits of the model, for readers of a report.
std::span<const std::string_view> model_limits();

/// "2026-11-26 11:10:35", UTC.
std::string time_text(double unix_time);
std::string report_text(const AccountReport& report);
Json report_json(const AccountReport& report);
/// A page that opens without a network.
std::string report_page(const AccountReport& report);

}  // namespace turnpike::ops
