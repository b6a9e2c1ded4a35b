// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <nlohmann/json.hpp>

#include "common/report/run_data.h"
#include "lab/batch/values.h"

namespace turnpike::lab {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSlack = 1e-9;  // s

/// What one run came to.
struct Measure {
  const std::string& folder;

  double operator()(const FromSummary& from) const {
    const auto text = report::read_text(folder + "/summary.json");
    if (!text) return kNan;
    const auto summary = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
    std::vector<double> values;
    for (const std::string& path : from.paths) values.push_back(value_at(summary, path));
    // One that is missing must not be passed over.
    return std::ranges::any_of(values, [](double v) { return std::isnan(v); })
               ? kNan
               : taken(values, from.take);
  }
  double operator()(const FromSeries& from) const {
    return taken(read_samples(folder, from.series).y, from.take);
  }
  double operator()(const Settle& settle) const {
    return settling_time(read_samples(folder, settle.series), settle);
  }
  double operator()(const Below& below) const {
    return time_below(read_samples(folder, below.series), below.level);
  }
  double operator()(const Constant& constant) const { return constant.value; }
  double operator()(const Ratio&) const { return kNan; }
};

double over_seeds(const MetricSpec& metric, const Experiment& e, const std::string& out) {
  const auto run = std::ranges::find(e.runs, metric.run, &RunSpec::name);
  if (run == e.runs.end()) return kNan;
  std::vector<double> values;
  for (const uint64_t seed : run->seeds) {
    const std::string folder = run_folder(out, e, *run, seed);
    values.push_back(std::visit(Measure{folder}, metric.source));
  }
  if (std::ranges::any_of(values, [](double v) { return std::isnan(v); })) return kNan;
  const Statistics s = statistics(std::move(values));
  return metric.over == Over::kMedian ? s.median : metric.over == Over::kMin ? s.min : s.max;
}

}  // namespace

double taken(const std::vector<double>& values, Take take) {
  if (values.empty()) return kNan;
  switch (take) {
    case Take::kMin:
      return *std::min_element(values.begin(), values.end());
    case Take::kMax:
      return *std::max_element(values.begin(), values.end());
    case Take::kFirst:
      return values.front();
    case Take::kLast:
      return values.back();
    case Take::kSum:
    case Take::kMean:
      break;
  }
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return take == Take::kSum ? sum : sum / static_cast<double>(values.size());
}

double settling_time(const Samples& samples, const Settle& settle) {
  double longest = kNan;
  for (const double after : settle.after) {
    double last_out = after;
    bool any = false, out = false;
    for (size_t i = 0; i < samples.x.size(); ++i) {
      const double t = samples.x[i];
      if (t <= after + kSlack || t > after + settle.watch + kSlack) continue;
      any = true;
      out = std::fabs(samples.y[i] - settle.target) > settle.within * std::fabs(settle.target);
      if (out) last_out = t;
    }
    if (!any) return kNan;
    const double taken = out ? std::numeric_limits<double>::infinity() : last_out - after;
    longest = std::isnan(longest) ? taken : std::max(longest, taken);
  }
  return longest;
}

double time_below(const Samples& samples, double level) {
  if (samples.x.size() < 2) return kNan;
  double sum = 0;
  for (size_t i = 0; i < samples.x.size(); ++i) {
    // Samples come at even intervals: the first is as long as the second.
    const size_t end = std::max<size_t>(i, 1);
    if (samples.y[i] < level) sum += samples.x[end] - samples.x[end - 1];
  }
  return sum;
}

Metrics metrics_of(const Experiment& e, const std::string& out) {
  Metrics all;
  for (const MetricSpec& m : e.metrics) {
    if (const auto* constant = std::get_if<Constant>(&m.source))
      all[m.name] = constant->value;
    else if (const auto* ratio = std::get_if<Ratio>(&m.source))
      all[m.name] = all[ratio->of] / all[ratio->to];
    else
      all[m.name] = over_seeds(m, e, out);
  }
  return all;
}

}  // namespace turnpike::lab
