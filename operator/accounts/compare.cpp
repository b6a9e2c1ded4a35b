// SPDX-License-Identifier: BSD-3-Clause
#include "operator/accounts/compare.h"

#include <algorithm>
#include <utility>

namespace turnpike::ops {
namespace {

constexpr double kWaits = 0.99, kPrices = 0.95;
constexpr double kSameTime = 1.5e-3;  // s: times have three decimals

}  // namespace

double weighted_percentile(std::vector<std::pair<double, double>> values, double q) {
  std::ranges::sort(values);
  double all = 0, seen = 0;
  for (const auto& [value, weight] : values) all += weight;
  for (const auto& [value, weight] : values) {
    seen += weight;
    if (weight > 0 && seen >= q * all) return value;
  }
  return 0;
}

Comparison compare(const CustomerLines& customer, const ShaperSpec& spec,
                   const std::function<void(const AccountLine&, const Shaped&)>& each) {
  Comparison c{.customer = customer.name, .spec = spec, .lines = customer.lines.size()};
  Shaper shaper(spec);
  std::vector<std::pair<double, double>> prices, waits, shaped_waits;
  std::optional<double> end;  // of the line before
  for (const AccountLine& line : customer.lines) {
    // After a step back of the clock a line may begin before the last one's end.
    if (const double gap = end ? line.time - line.seconds - *end : 0; gap > kSameTime) {
      const Shaped drained = shaper.pass(0, gap);
      c.shaper.carried += drained.carried;
      c.shaper.limited += drained.limited;
    }
    end = line.time;
    const Shaped shaped = shaper.pass(line.offered, line.seconds);
    if (each) each(line, shaped);
    c.seconds += line.seconds;
    c.offered += line.offered;
    c.bytes += line.bytes;
    c.spend += line.spend;
    c.ceiling += line.ceiling;
    c.gateway.carried += line.carried;
    c.gateway.limited += line.limited + line.ceiling;
    c.shaper.carried += shaped.carried;
    c.shaper.limited += shaped.limited;
    if (line.bytes > 0) prices.emplace_back(line.spend / line.bytes, line.bytes);
    waits.emplace_back(line.wait_p99, line.carried);
    shaped_waits.emplace_back(shaped.wait_p99, shaped.carried);
  }
  c.price = c.bytes > 0 ? c.spend / c.bytes : 0;
  c.price_p95 = weighted_percentile(std::move(prices), kPrices);
  c.gateway.wait_p99 = weighted_percentile(std::move(waits), kWaits);
  c.shaper.wait_p99 = weighted_percentile(std::move(shaped_waits), kWaits);
  return c;
}

}  // namespace turnpike::ops
