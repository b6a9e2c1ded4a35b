// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <nlohmann/json.hpp>

#include "lab/batch/values.h"

namespace turnpike::lab {
namespace {

constexpr double kSlack = 1e-9;  // s

/// Evaluates a metric's source on one run.
struct Measure {
  ResultFiles& files;
  const std::string& folder;
  const Metrics& known;  // computed before

  double operator()(const FromSummary& from) const {
    const nlohmann::json& summary = files.json(folder + "/summary.json");
    std::vector<double> all;
    for (const std::string& path : from.paths) {
      auto values = values_at(summary, path);
      if (values.empty() && from.absent && !summary.is_null()) values.push_back(*from.absent);
      if (values.empty()) return kNan;
      all.insert(all.end(), values.begin(), values.end());
    }
    return taken(all, from.take);
  }
  double operator()(const FromSeries& from) const {
    return taken(read_samples(files, folder, from.series).y, from.take);
  }
  double operator()(const FromCompletions& from) const {
    const Completions flows = read_completions(files, folder, from.from, from.to);
    std::vector<double> times;
    for (size_t i = 0; i < flows.bytes.size(); ++i)
      if (flows.bytes[i] > from.above && flows.bytes[i] <= from.most)
        times.push_back(flows.seconds[i]);
    if (!from.first.empty()) {
      const double first = known.at(from.first);
      if (!(first <= static_cast<double>(times.size()))) return kNan;
      times.resize(static_cast<size_t>(first));
    }
    return taken(times, from.take);
  }
  double operator()(const Settle& settle) const {
    double longest = 0;
    for (const SeriesSpec& series : settle.series) {
      const double t = settling_time(read_samples(files, folder, series), settle);
      if (std::isnan(t)) return kNan;
      longest = std::max(longest, t);
    }
    return longest;
  }
  double operator()(const Below& below) const {
    return time_below(read_samples(files, folder, below.series), below.level);
  }
  double operator()(const Constant& constant) const { return constant.value; }
  double operator()(const FromFile& from) const { return value_at(files.json(from.file), from.at); }
  double operator()(const Ratio&) const { return kNan; }
  double operator()(const Combined&) const { return kNan; }
};

double combine(const Combined& combined, const Metrics& metrics) {
  std::vector<double> values;
  values.reserve(combined.of.size());
  for (const std::string& name : combined.of) values.push_back(metrics.at(name));
  const bool known = std::ranges::none_of(values, [](double v) { return std::isnan(v); });
  return known ? taken(values, combined.take) : kNan;
}

/// NaN if one of the values is.
double made_one(std::vector<double> values, Over over) {
  if (std::ranges::any_of(values, [](double v) { return std::isnan(v); })) return kNan;
  const Statistics s = statistics(std::move(values));
  return over == Over::kMedian ? s.median : over == Over::kMin ? s.min : s.max;
}

std::vector<double> by_seed(const MetricSpec& metric, const Experiment& e, const RunSpec& run,
                            const std::string& out, ResultFiles& files, const Metrics& known) {
  std::vector<double> values;
  for (const uint64_t seed : run.seeds) {
    const std::string folder = run_folder(out, e, run, seed);
    values.push_back(std::visit(Measure{files, folder, known}, metric.source));
  }
  return values;
}

}  // namespace

std::optional<std::pair<double, double>> spread(const MetricSpec& metric, const Experiment& e,
                                                const std::string& out, ResultFiles& files,
                                                const Metrics& known) {
  if (metric.runs.size() != 1) return std::nullopt;
  const auto run = std::ranges::find(e.runs, metric.runs[0], &RunSpec::name);
  if (run == e.runs.end() || run->seeds.size() == 1) return std::nullopt;
  const auto values = by_seed(metric, e, *run, out, files, known);
  if (std::ranges::any_of(values, [](double v) { return std::isnan(v); })) return std::nullopt;
  const auto [least, most] = std::ranges::minmax_element(values);
  return std::pair(*least, *most);
}

std::vector<double> by_run(const MetricSpec& metric, const Experiment& e, const std::string& out,
                           ResultFiles& files, const Metrics& known, const WrongResults& wrong) {
  std::vector<double> all;
  for (const std::string& name : metric.runs) {
    const auto run = std::ranges::find(e.runs, name, &RunSpec::name);
    if (run == e.runs.end()) return {};
    std::vector<double> values;
    if (!wrong.runs.contains(name)) {
      values = by_seed(metric, e, *run, out, files, known);
    } else {
      const std::string folder = run_folder(wrong.out, e, *run, run->seeds[0]);
      values.push_back(std::visit(Measure{files, folder, known}, metric.source));
    }
    all.push_back(made_one(std::move(values), metric.over));
  }
  return all;
}

double taken(const std::vector<double>& values, Take take) {
  if (values.empty()) return kNan;
  const auto quantile = [&](double share) {
    std::vector<double> sorted = values;
    const auto n = static_cast<double>(sorted.size());
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(std::ceil(share * n)) - 1;
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
  };
  switch (take) {
    case Take::kMin:
      return *std::min_element(values.begin(), values.end());
    case Take::kMax:
      return *std::max_element(values.begin(), values.end());
    case Take::kFirst:
      return values.front();
    case Take::kLast:
      return values.back();
    case Take::kMedian:
      return quantile(0.5);
    case Take::kP90:
      return quantile(0.9);
    case Take::kP99:
      return quantile(0.99);
    default:
      break;
  }
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (take == Take::kSum) return sum;
  const auto n = static_cast<double>(values.size());
  if (take == Take::kMean) return sum / n;
  const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
  if (take == Take::kJain) return sum * sum / (n * squares);
  return std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n)));
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

Metrics metrics_of(const Experiment& e, const std::string& out, const WrongResults& wrong) {
  ResultFiles files;
  return metrics_of(e, out, files, wrong);
}

Metrics metrics_of(const Experiment& e, const std::string& out, ResultFiles& files,
                   const WrongResults& wrong) {
  Metrics all;
  const auto is_right = [&](const MetricSpec& m) {
    if (wrong.right == nullptr) return false;
    if (std::holds_alternative<FromFile>(m.source)) return wrong.file_factor == 1;
    const auto* completions = std::get_if<FromCompletions>(&m.source);
    return std::ranges::none_of(m.runs, [&](const auto& r) { return wrong.runs.contains(r); }) &&
           (completions == nullptr || completions->first.empty());
  };
  for (const MetricSpec& m : e.metrics) {
    if (const auto* ratio = std::get_if<Ratio>(&m.source))
      all[m.name] = all[ratio->of] / all[ratio->to];
    else if (const auto* combined = std::get_if<Combined>(&m.source))
      all[m.name] = combine(*combined, all);
    else if (is_right(m))
      all[m.name] = wrong.right->at(m.name);
    else if (m.runs.empty())
      all[m.name] = std::visit(Measure{files, out, all}, m.source) *
                    (std::holds_alternative<FromFile>(m.source) ? wrong.file_factor : 1);
    else
      all[m.name] = made_one(by_run(m, e, out, files, all, wrong), m.over);
  }
  return all;
}

}  // namespace turnpike::lab
