// SPDX-License-Identifier: BSD-3-Clause
#include "lab/compare/figures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "common/report/csv.h"
#include "common/report/run_data.h"
#include "common/units/units.h"
#include "lab/batch/values.h"

namespace turnpike::lab {
namespace {

using report::Chart, report::Series;

/// Links that have a law in any of the runs.
std::set<std::string> priced_links(const Comparison& c) {
  std::set<std::string> names;
  for (const SchemeRun& run : c.runs) {
    if (!run.summary.is_object() || !run.summary.contains("links")) continue;
    for (const auto& [name, link] : run.summary.at("links").items())
      if (link.value("law", "none") != "none" && link.contains("utilization")) names.insert(name);
  }
  return names;
}

Figure figure(const Comparison& c, const std::string& name, const std::string& path,
              double scale = 1) {
  Figure f{name, {}};
  for (const SchemeRun& run : c.runs) f.values.push_back(scale * value_at(run.summary, path));
  return f;
}

Series line_of(const Comparison& c, size_t run) {
  return {.name = c.runs[run].scheme, .colour = static_cast<int>(run)};
}

/// A chart over time of every run's link of that name.
Chart link_chart(const Comparison& c, const std::vector<report::RunData>& data,
                 const std::string& name, const std::string& what,
                 const std::function<std::vector<double>(const report::LinkSeries&)>& y) {
  Chart chart{.title = name + ": " + what};
  chart.x.label = "time (s)";
  chart.y.label = what;
  for (size_t i = 0; i < data.size(); ++i) {
    const auto link = std::ranges::find(data[i].links, name, &report::LinkSeries::name);
    if (link == data[i].links.end()) continue;
    chart.series.push_back(line_of(c, i));
    chart.series.back().x = link->t;
    chart.series.back().y = y(*link);
  }
  return chart;
}

/// A point per tenth of the flows, at its median size.
Chart completion_chart(const Comparison& c, const std::vector<SizeTenth>& tenths,
                       const std::string& what, double SizeFigures::*figure) {
  Chart chart{.title = what + " by flow size"};
  chart.x = {.label = "flow size (B)", .log = true};
  chart.y = {.label = what + " (s)", .log = true};
  for (size_t i = 0; i < c.runs.size(); ++i) {
    Series line = line_of(c, i);
    line.marks = Series::Marks::kBoth;
    for (const SizeTenth& tenth : tenths) {
      if (tenth.runs[i].flows == 0) continue;
      line.x.push_back(tenth.runs[i].size);
      line.y.push_back(tenth.runs[i].*figure);
    }
    if (!line.x.empty()) chart.series.push_back(std::move(line));
  }
  return chart;
}

Chart price_chart(const Comparison& c, const std::vector<report::RunData>& data,
                  const std::string& link) {
  Chart chart = link_chart(c, data, link, "price ($/MB)", [](const auto& l) {
    std::vector<double> prices;
    bool idle = true;  // at its minimum until traffic comes, eighteen decades below
    for (const double p : l.price) {
      idle = idle && !(p > 1.5 * kMinPrice.count());
      prices.push_back(idle ? kNan : 1e6 * p);
    }
    return prices;
  });
  chart.y.log = true;                                // prices move by decades
  std::erase_if(chart.series, [](const Series& s) {  // laws that set none
    return std::ranges::none_of(s.y, [](double p) { return p > 0; });
  });
  return chart;
}

/// Jain's index over all open flows, those of an entry of the traffic alike: (sum r)^2 / (n sum
/// r^2).
Series fairness(const std::string& rates) {
  struct Sums {
    double flows = 0, rate = 0, squares = 0;
    size_t entries = 0;
  };
  const report::Csv csv = report::Csv::parse(rates);
  std::map<double, Sums> at;
  for (size_t row = 0; row < csv.rows(); ++row) {
    const double flows = csv.number(row, "flows"), rate = csv.number(row, "rate_mbps");
    if (csv.text(row, "flow").empty() || !(flows > 0) || !(rate >= 0)) continue;
    Sums& s = at[csv.number(row, "t")];
    s.flows += flows;
    s.rate += rate;
    s.squares += rate * rate / flows;
    ++s.entries;
  }
  Series line;
  for (const auto& [t, s] : at) {
    if (s.entries < 2 || s.squares <= 0) continue;
    line.x.push_back(t);
    line.y.push_back(s.rate * s.rate / (s.flows * s.squares));
  }
  return line;
}

Chart fairness_chart(const Comparison& c) {
  Chart chart{.title = "Fairness over the entries of the traffic"};
  chart.x.label = "time (s)";
  chart.y = {.label = "Jain's index", .max = 1};
  for (size_t i = 0; i < c.runs.size(); ++i) {
    const auto text = report::read_text(c.runs[i].folder + "/rates.csv");
    if (!text) continue;
    Series points = fairness(*text);
    if (points.x.empty()) continue;
    Series line = line_of(c, i);
    line.x = std::move(points.x);
    line.y = std::move(points.y);
    chart.series.push_back(std::move(line));
  }
  return chart;
}

}  // namespace

std::vector<Figure> figures_of(const Comparison& c) {
  std::vector<Figure> all;
  for (const std::string& link : priced_links(c)) {
    const std::string path = "links." + link + ".";
    all.push_back(figure(c, link + " utilisation (%)", path + "utilization", 100));
    all.push_back(figure(c, link + " loss (%)", path + "loss_rate", 100));
    all.push_back(figure(c, link + " mean queue (ms)", path + "queue_delay_ms.mean"));
    all.push_back(figure(c, link + " p99 queue (ms)", path + "queue_delay_ms.p99"));
  }
  Figure first{"first window (packets)", {}};
  for (const SchemeRun& run : c.runs) first.values.push_back(run.first_window);
  all.push_back(std::move(first));
  all.push_back(figure(c, "flows completed", "flows.completed"));
  all.push_back(figure(c, "mean completion (s)", "flows.afct_s"));
  all.push_back(figure(c, "p50 completion (s)", "flows.fct_s.p50"));
  all.push_back(figure(c, "p99 completion (s)", "flows.fct_s.p99"));
  all.push_back(figure(c, "Jain's index", "flows.jain"));
  std::set<std::string> hosts;
  for (const SchemeRun& run : c.runs)
    if (run.summary.is_object() && run.summary.contains("hosts"))
      for (const auto& [name, host] : run.summary.at("hosts").items()) hosts.insert(name);
  for (const std::string& host : hosts)
    all.push_back(figure(c, host + " goodput (Mbps)", "hosts." + host + ".goodput_mbps"));
  std::erase_if(all, [](const Figure& f) {
    return std::ranges::none_of(f.values, [](double v) { return std::isfinite(v); });
  });
  std::erase_if(all, [](const Figure& f) {  // hosts that only receive
    return f.name.ends_with("goodput (Mbps)") &&
           std::ranges::all_of(f.values, [](double v) { return !(v > 0); });
  });
  return all;
}

std::vector<Chart> charts_of(const Comparison& c, const std::vector<SizeTenth>& tenths) {
  std::vector<report::RunData> data;
  for (const SchemeRun& run : c.runs)
    data.push_back(report::read_run(run.folder).value_or(report::RunData{}));
  std::vector<Chart> all{
      completion_chart(c, tenths, "Mean completion time", &SizeFigures::mean),
      completion_chart(c, tenths, "99th percentile of completion time", &SizeFigures::p99),
      fairness_chart(c)};
  for (const std::string& link : priced_links(c)) {
    all.push_back(link_chart(c, data, link, "utilisation (%)", [](const auto& l) {
      std::vector<double> percent;
      for (const double u : l.utilization) percent.push_back(100 * u);
      return percent;
    }));
    all.push_back(link_chart(c, data, link, "queueing delay (ms)",
                             [](const auto& l) { return l.queue_delay; }));
    all.push_back(price_chart(c, data, link));
    all.push_back(
        link_chart(c, data, link, "packets dropped so far", [](const auto& l) { return l.drops; }));
  }
  std::erase_if(all, [](const Chart& chart) { return chart.series.empty(); });
  return all;
}

}  // namespace turnpike::lab
