// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/run_charts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/units/units.h"

namespace turnpike::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kDark = 6;         // of the palette
constexpr size_t kMaxLinks = 7;  // lines that can be distinguished
constexpr int kHalfWidth = 380, kHalfHeight = 220;

const nlohmann::json& intervals(const RunData& run) {
  static const nlohmann::json none = nlohmann::json::array();
  const auto it = run.summary.find("intervals");
  return it != run.summary.end() && it->is_array() ? *it : none;
}

Chart over_time(const RunData& run, std::string title, std::string label) {
  Chart chart;
  chart.title = std::move(title);
  chart.x.label = "time (s)";
  chart.y.label = std::move(label);
  chart.x.min = 0;
  if (const double end = number_at(run.summary, {"duration_s"}); end > 0) chart.x.max = end;
  for (const auto& i : intervals(run)) {
    const Band band{number_at(i, {"from"}), number_at(i, {"to"})};
    if (std::isfinite(band.from) && std::isfinite(band.to)) chart.bands.push_back(band);
  }
  return chart;
}

std::vector<double> scaled(std::vector<double> values, double by) {
  for (double& v : values) v *= by;
  return values;
}

/// Links to show: those with a law; without any, those that carried traffic.
std::vector<const LinkSeries*> shown_links(const RunData& run) {
  std::vector<const LinkSeries*> with_law, busy;
  for (const LinkSeries& s : run.links) {
    const auto links = run.summary.find("links");
    if (links != run.summary.end() && links->is_object() && links->contains(s.name) &&
        (*links)[s.name].is_object() && (*links)[s.name].value("law", nlohmann::json()) != "none")
      with_law.push_back(&s);
    if (std::any_of(s.utilization.begin(), s.utilization.end(), [](double u) { return u > .01; }))
      busy.push_back(&s);
  }
  auto& shown = with_law.empty() ? busy : with_law;
  if (shown.size() > kMaxLinks) shown.resize(kMaxLinks);
  return shown;
}

Chart link_chart(const RunData& run, std::string title, std::string label,
                 std::vector<double> LinkSeries::*values, double scale) {
  Chart chart = over_time(run, std::move(title), std::move(label));
  int colour = 0;
  for (const LinkSeries* s : shown_links(run))
    chart.series.push_back(
        {.name = s->name, .x = s->t, .y = scaled(s->*values, scale), .colour = colour++});
  return chart;
}

Chart half(Chart chart) {
  chart.width = kHalfWidth;
  chart.height = kHalfHeight;
  return chart;
}

/// The host's entitled rate in each steady interval, with gaps between intervals.
Series entitled_series(const RunData& run, const std::string& host) {
  Series s{.name = "", .colour = kDark, .reference = true};
  for (const auto& i : intervals(run)) {
    const double level = number_at(i, {"hosts", host.c_str(), "entitled_mbps"});
    if (!std::isfinite(level)) continue;
    const double from = number_at(i, {"from"}), to = number_at(i, {"to"});
    s.x.insert(s.x.end(), {from, to, to});
    s.y.insert(s.y.end(), {level, level, kNan});
  }
  return s;
}

}  // namespace

Chart rate_chart(const RunData& run) {
  Chart chart = over_time(run, "Rate per host", "rate (Mbps)");
  chart.height = 300;
  chart.band_name = "steady";
  double highest = 0;
  std::vector<Series> entitled;
  for (const HostSeries& h : run.hosts) {
    const bool sends = std::any_of(h.rate.begin(), h.rate.end(), [](double r) { return r > 0; });
    if (!sends) continue;
    for (const double r : h.rate) highest = std::fmax(highest, r);
    const int colour = static_cast<int>(chart.series.size());
    chart.series.push_back({.name = h.name, .x = h.t, .y = h.rate, .colour = colour});
    if (Series s = entitled_series(run, h.name); !s.x.empty()) entitled.push_back(s);
  }
  if (!entitled.empty())  // the legend's entry for all levels
    chart.series.push_back({.name = "entitled", .colour = kDark, .reference = true});
  chart.series.insert(chart.series.end(), entitled.begin(), entitled.end());
  if (highest >= 2000) {
    chart.y.label = "rate (Gbps)";
    for (Series& s : chart.series) s.y = scaled(s.y, 1e-3);
  }
  return chart;
}

Chart price_chart(const RunData& run) {
  Chart chart = link_chart(run, "Price per link", "price ($/MB)", &LinkSeries::price, 1e6);
  double least = std::numeric_limits<double>::infinity(), greatest = 0;
  for (Series& s : chart.series)
    for (double& p : s.y) {
      if (!(p > kMinPrice.count() * 1e6 * 10))
        p = 0;  // an idle link's price is MIN
      else
        least = std::min(least, p), greatest = std::max(greatest, p);
    }
  chart.y.log = greatest > 30 * least;
  return chart;
}

Chart queue_bytes_chart(const RunData& run) {
  return half(link_chart(run, "Queue per link", "queue (KB)", &LinkSeries::queue_bytes, 1e-3));
}

Chart queue_delay_chart(const RunData& run) {
  return half(link_chart(run, "Queueing delay per link", "queueing delay (ms)",
                         &LinkSeries::queue_delay, 1));
}

Chart utilization_chart(const RunData& run) {
  return half(
      link_chart(run, "Utilisation per link", "utilisation (%)", &LinkSeries::utilization, 100));
}

Chart rtt_chart(const RunData& run) {
  Chart chart = half(over_time(run, "Round trip time per host", "RTT (ms)"));
  for (const HostSeries& h : run.hosts) {
    const bool sends = std::any_of(h.rate.begin(), h.rate.end(), [](double r) { return r > 0; });
    if (!sends) continue;
    std::vector<double> rtt = h.rtt;
    for (double& v : rtt)
      if (v <= 0) v = kNan;  // no sample yet
    chart.series.push_back(
        {.name = h.name, .x = h.t, .y = rtt, .colour = static_cast<int>(chart.series.size())});
  }
  return chart;
}

}  // namespace turnpike::report
