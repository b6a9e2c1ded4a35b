// SPDX-License-Identifier: BSD-3-Clause
// The page of a comparison: a table, and rates, waits and prices over time.
#include "common/report/page.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numeric>

#include "common/report/chart.h"
#include "common/report/number.h"
#include "operator/accounts/compare.h"

namespace turnpike::ops {
namespace {

using report::Chart;
using report::Series;

constexpr size_t kListed = 1000;  // customers in tables
constexpr size_t kDrawn = 6;      // customers with figures
constexpr double kMaxBins = 600;  // along x
constexpr double kMegabytes = 1e-6;
constexpr double kMbps = 8e-6;  // of B/s
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Sums of a customer's lines in one interval of the time axis.
struct Bin {
  double offered = 0, carried = 0, shaped = 0;  // B
  double wait = 0, shaped_wait = 0;             // s, the greatest
  double spend = 0, bytes = 0;
};

struct Bins {
  double width = 1;  // s
  std::vector<Bin> all = {};
};

Bins bins_of(const AccountReport& report, size_t customer) {
  Bins bins{.width = std::max(1., std::ceil((report.to - report.from) / kMaxBins))};
  bins.all.resize(static_cast<size_t>((report.to - report.from) / bins.width) + 1);
  compare(report.accounts[customer], report.customers[customer].spec,
          [&](const AccountLine& line, const Shaped& shaped) {
            // By the middle of the line's period.
            const double at = (line.time - line.seconds / 2 - report.from) / bins.width;
            Bin& bin = bins.all[static_cast<size_t>(
                std::clamp(at, 0., static_cast<double>(bins.all.size() - 1)))];
            bin.offered += line.offered;
            bin.carried += line.carried;
            bin.shaped += shaped.carried;
            bin.wait = std::max(bin.wait, line.wait_p99);
            bin.shaped_wait = std::max(bin.shaped_wait, shaped.wait_p99);
            bin.spend += line.spend;
            bin.bytes += line.bytes;
          });
  return bins;
}

/// A line of figures over time, in the unit of `scale`.
template <class Figure>
Series series(const std::string& name, int colour, const Bins& bins, Figure figure) {
  Series s{.name = name, .colour = colour};
  for (size_t i = 0; i < bins.all.size(); ++i) {
    s.x.push_back((static_cast<double>(i) + 0.5) * bins.width);
    s.y.push_back(figure(bins.all[i]));
  }
  return s;
}

Chart rates(const std::string& name, const Bins& bins) {
  Chart chart{.title = name, .x = {.label = "time (s)"}, .y = {.label = "rate (Mbps)"}};
  const auto rate = [&](double Bin::*bytes) {
    return [&bins, bytes](const Bin& b) { return kMbps * b.*bytes / bins.width; };
  };
  chart.series = {series("offered", 2, bins, rate(&Bin::offered)),
                  series("gateway", 0, bins, rate(&Bin::carried)),
                  series("fixed rate", 1, bins, rate(&Bin::shaped))};
  chart.series[0].reference = true;
  chart.width = 380;
  return chart;
}

Chart waits(const std::string& name, const Bins& bins) {
  Chart chart{.title = name, .x = {.label = "time (s)"}, .y = {.label = "p99 of waits (ms)"}};
  chart.series = {series("gateway", 0, bins, [](const Bin& b) { return 1e3 * b.wait; }),
                  series("fixed rate", 1, bins, [](const Bin& b) { return 1e3 * b.shaped_wait; })};
  chart.width = 380;
  return chart;
}

/// Indices of the customers that spent most, at most `most`.
std::vector<size_t> largest(const AccountReport& report, size_t most) {
  std::vector<size_t> order(report.customers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t i) {
    return std::pair(report.customers[i].spend, report.customers[i].offered);
  });
  order.resize(std::min(order.size(), most));
  return order;
}

report::Cell figure(double v) { return report::number(report::significant(v)); }

/// A row of a customer: its name, some figures, and an outcome.
void add_row(report::HtmlTable& table, const Comparison& c, std::initializer_list<double> before,
             const Outcome& outcome) {
  auto& row = table.rows.emplace_back();
  row.emplace_back(c.customer);
  for (const double v : before) row.push_back(figure(v));
  row.push_back(figure(outcome.carried * kMegabytes));
  row.push_back(
      report::number(report::percent(c.offered > 0 ? outcome.carried / c.offered : 1, 1)));
  row.push_back(figure(outcome.limited));
  row.push_back(figure(outcome.wait_p99 * 1e3));
}

report::HtmlTable gateway_table(const AccountReport& report, const std::vector<size_t>& listed) {
  report::HtmlTable t{.caption =
                          "The gateway. Carried: of the offered bytes; met: their share. "
                          "Limited: while packets waited for the budget or the ceiling.",
                      .columns = {"customer", "offered (MB)", "paid ($)", "$/MB", "p95",
                                  "carried (MB)", "met", "limited (s)", "p99 wait (ms)"}};
  for (const size_t i : listed) {
    const Comparison& c = report.customers[i];
    add_row(t, c, {c.offered * kMegabytes, c.spend, c.price * 1e6, c.price_p95 * 1e6}, c.gateway);
  }
  return t;
}

report::HtmlTable shaper_table(const AccountReport& report, const std::vector<size_t>& listed) {
  report::HtmlTable t{
      .caption =
          "Fixed rates, by the model. Limited: while bytes waited. The last column: bytes "
          "that the gateway carried beyond those of the fixed rate.",
      .columns = {"customer", "rate (Mbps)", "would carry (MB)", "met", "limited (s)",
                  "p99 wait (ms)", "gateway more (MB)"}};
  for (const size_t i : listed) {
    const Comparison& c = report.customers[i];
    add_row(t, c, {c.spec.rate * kMbps}, c.shaper);
    t.rows.back().push_back(figure((c.gateway.carried - c.shaper.carried) * kMegabytes));
  }
  return t;
}

}  // namespace

std::string report_page(const AccountReport& report) {
  report::Page page("Customers' accounts beside fixed rates");
  page.paragraph(time_text(report.from) + " to " + time_text(report.to) + " UTC, " +
                 std::to_string(report.customers.size()) + " customers.");
  page.paragraph("A fixed rate is a token bucket of " + report::significant(report.burst * 1e-3) +
                 " KB that drains a FIFO queue of " + report::significant(report.buffer_s * 1e3) +
                 " ms at that rate; what finds the queue full is dropped.");
  page.paragraph(total_text(report));
  auto listed = largest(report, kListed);
  if (listed.size() < report.customers.size())
    page.paragraph("The tables have the " + std::to_string(kListed) +
                   " customers that spent most; --json has all.");
  std::ranges::sort(listed);
  page.table(gateway_table(report, listed));
  page.table(shaper_table(report, listed));
  const auto order = largest(report, kDrawn);
  Chart prices{.title = "Prices", .x = {.label = "time (s)"}, .y = {.label = "mean price ($/MB)"}};
  if (!order.empty()) page.heading("Rates and waits");
  for (size_t i = 0; i < order.size(); ++i) {
    const std::string& name = report.customers[order[i]].customer;
    const Bins bins = bins_of(report, order[i]);
    page.figure(report::svg(rates(name, bins)), name + ": rates.", true);
    page.figure(report::svg(waits(name, bins)), name + ": greatest 99th percentile of waits.",
                true);
    prices.series.push_back(series(name, static_cast<int>(i), bins, [](const Bin& b) {
      return b.bytes > 0 ? 1e6 * b.spend / b.bytes : kNaN;
    }));
  }
  if (!order.empty())
    page.figure(report::svg(prices), "Prices that these customers paid: those that spent most.");
  page.heading("What the model leaves out");
  for (const std::string_view text : model_limits()) page.paragraph(text);
  if (listed.size() == report.customers.size()) page.data("accounts", report_json(report).dump());
  return page.html();
}

}  // namespace turnpike::ops
