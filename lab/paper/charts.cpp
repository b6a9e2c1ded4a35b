// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/charts.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace turnpike::lab {
namespace {

using report::Series;

constexpr int kDark = 6;  // of the palette

/// A line's points; levels are drawn when the others' ends are known.
struct Draw {
  const Experiment& experiment;
  const Metrics& metrics;
  const std::string& out;
  ResultFiles& files;

  [[nodiscard]] const RunSpec& run(const std::string& name) const {
    return *std::ranges::find(experiment.runs, name, &RunSpec::name);
  }
  Series operator()(const LineSpec::Samples& line) const {
    const RunSpec& of = run(line.run);
    const Samples s =
        read_samples(files, run_folder(out, experiment, of, of.seeds[0]), line.series);
    return {.x = s.x, .y = s.y};
  }
  /// Of all seeds; by the order of their ends in each.
  [[nodiscard]] Completions completions(const std::string& name) const {
    Completions all;
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    for (const uint64_t seed : run(name).seeds) {
      const Completions c = read_completions(files, run_folder(out, experiment, run(name), seed));
      append(all.bytes, c.bytes);
      append(all.seconds, c.seconds);
      append(all.ends, c.ends);
    }
    return all;
  }
  Series operator()(const LineSpec::BySize& line) const { return by_size(completions(line.run)); }
  Series operator()(const LineSpec::Distribution& line) const {
    return distribution(completions(line.run).seconds);
  }
  Series operator()(const LineSpec::ByTime& line) const {
    return by_time(completions(line.run), line.every);
  }
  Series operator()(const LineSpec::Points& line) const { return {.x = line.x, .y = line.y}; }
  Series operator()(const LineSpec::Sweep& line) const {
    const auto metric = std::ranges::find(experiment.metrics, line.metric, &MetricSpec::name);
    return {.x = line.x,
            .y = by_run(*metric, experiment, out, files, metrics),
            .marks = Series::Marks::kBoth};
  }
  Series operator()(const LineSpec::Level& line) const { return {.y = {line.y, line.y}}; }
  Series operator()(const LineSpec::Mark& line) const {
    return {.x = {metrics.at(line.x)}, .y = {metrics.at(line.y)}, .marks = Series::Marks::kPoints};
  }
};

void multiply(std::vector<double>& values, double by) {
  for (double& v : values) v *= by;
}

}  // namespace

Series distribution(std::vector<double> values) {
  constexpr size_t kPoints = 200;
  std::ranges::sort(values);
  Series s;
  const size_t n = values.size();
  for (size_t k = 1; k <= std::min(n, kPoints); ++k) {
    const size_t count = n * k / std::min(n, kPoints);
    s.x.push_back(values[count - 1]);
    s.y.push_back(static_cast<double>(count) / static_cast<double>(n));
  }
  return s;
}

Series by_time(const Completions& completions, double every) {
  std::map<double, std::vector<double>> intervals;  // by their ends
  for (size_t i = 0; i < completions.ends.size(); ++i)
    intervals[std::ceil(completions.ends[i] / every) * every].push_back(completions.seconds[i]);
  Series s{.marks = Series::Marks::kBoth};
  for (const auto& [end, seconds] : intervals) {
    s.x.push_back(end);
    s.y.push_back(taken(seconds, Take::kMean));
  }
  return s;
}

Series by_size(const Completions& completions) {
  constexpr double kPerDecade = 8;
  std::map<int, Samples> classes;
  for (size_t i = 0; i < completions.bytes.size(); ++i) {
    const int c = static_cast<int>(std::floor(std::log10(completions.bytes[i]) * kPerDecade));
    classes[c].x.push_back(completions.bytes[i]);
    classes[c].y.push_back(completions.seconds[i]);
  }
  Series s{.marks = Series::Marks::kBoth};
  for (auto& [c, samples] : classes) {
    s.x.push_back(taken(samples.x, Take::kMean));
    s.y.push_back(taken(samples.y, Take::kMean));
    std::sort(samples.y.begin(), samples.y.end());
    const auto last = static_cast<double>(samples.y.size() - 1);
    s.low.push_back(samples.y[static_cast<size_t>(std::lround(0.1 * last))]);
    s.high.push_back(samples.y[static_cast<size_t>(std::lround(0.9 * last))]);
  }
  return s;
}

report::Chart chart_of(const ChartSpec& spec, const Experiment& e, const Metrics& metrics,
                       const std::string& out, ResultFiles& files) {
  report::Chart chart{.title = spec.title};
  chart.x = {.label = spec.x, .log = spec.log_x};
  chart.y = {.label = spec.y, .log = spec.log_y};
  if (!spec.log_x) chart.x.min = spec.from;
  if (std::isfinite(spec.to)) chart.x.max = spec.to;
  if (std::isfinite(spec.low)) chart.y.min = spec.low;
  if (std::isfinite(spec.high)) chart.y.max = spec.high;
  if (spec.half) chart.width = 380, chart.height = 230;
  int colour = 0;
  double end = spec.from;
  for (const LineSpec& line : spec.lines) {
    const bool level = std::holds_alternative<LineSpec::Level>(line.source);
    Series s = std::visit(Draw{e, metrics, out, files}, line.source);
    s.name = line.name;
    s.reference = level || line.dashed;
    s.colour = s.reference ? kDark : colour++;
    for (auto* values : {&s.y, &s.low, &s.high}) multiply(*values, line.scale);
    if (!s.x.empty()) end = std::max(end, *std::max_element(s.x.begin(), s.x.end()));
    chart.series.push_back(std::move(s));
  }
  for (Series& s : chart.series)
    if (s.x.size() < s.y.size()) s.x = {spec.from, chart.x.max.value_or(end)};
  return chart;
}

}  // namespace turnpike::lab
