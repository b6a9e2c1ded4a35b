// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/samples.h"

#include <algorithm>
#include <cmath>

#include "common/report/csv.h"
#include "common/report/run_data.h"

namespace turnpike::lab {
namespace {

constexpr double kRounding = 1e-9;  // s; times are decimal fractions

bool is_of(const report::Csv& csv, size_t row, const SeriesSpec& spec) {
  switch (spec.kind) {
    case SeriesSpec::Kind::kLink:
      return csv.text(row, "link") == spec.name;
    case SeriesSpec::Kind::kHost:
      return csv.text(row, "host") == spec.name && csv.text(row, "flow").empty();
    case SeriesSpec::Kind::kFlow:
      return csv.text(row, "flow") == spec.name;
  }
  return false;
}

}  // namespace

std::string run_folder(const std::string& out, const Experiment& experiment, const RunSpec& run,
                       uint64_t seed) {
  return out + "/" + experiment.id + "/" + run.name + "/seed-" + std::to_string(seed);
}

Samples read_samples(const std::string& folder, const SeriesSpec& spec) {
  Samples out;
  const bool link = spec.kind == SeriesSpec::Kind::kLink;
  const auto text = report::read_text(folder + (link ? "/links.csv" : "/rates.csv"));
  if (!text) return out;
  const auto csv = report::Csv::parse(*text);
  for (size_t row = 0; row < csv.rows(); ++row) {
    if (!is_of(csv, row, spec)) continue;
    const double t = csv.number(row, "t"), v = csv.number(row, spec.column);
    if (!(t > spec.from + kRounding && t <= spec.to + kRounding) || !std::isfinite(v)) continue;
    out.x.push_back(t);
    out.y.push_back(v);
  }
  return spec.every > 0 ? binned(out, spec.from, spec.every) : out;
}

Samples binned(const Samples& samples, double from, double every) {
  Samples out;
  std::vector<double> counts;
  for (size_t i = 0; i < samples.x.size(); ++i) {
    const double end = from + std::ceil((samples.x[i] - from) / every - kRounding / every) * every;
    if (out.x.empty() || end > out.x.back() + kRounding) {
      out.x.push_back(end);
      out.y.push_back(0);
      counts.push_back(0);
    }
    out.y.back() += samples.y[i];
    ++counts.back();
  }
  for (size_t i = 0; i < counts.size(); ++i) out.y[i] /= counts[i];
  return out;
}

Completions read_completions(const std::string& folder, double from, double to) {
  struct Flow {
    double end, bytes, seconds;
  };
  std::vector<Flow> flows;
  const auto text = report::read_text(folder + "/flows.csv");
  if (!text) return {};
  const auto csv = report::Csv::parse(*text);
  for (size_t row = 0; row < csv.rows(); ++row) {
    const double bytes = csv.number(row, "bytes"), seconds = csv.number(row, "completion_s");
    if (!(bytes > 0 && seconds > 0)) continue;
    const double end = csv.number(row, "start_s") + seconds;
    if (end > from && end <= to) flows.push_back({end, bytes, seconds});
  }
  std::ranges::stable_sort(flows, {}, &Flow::end);
  Completions out;
  for (const Flow& flow : flows) {
    out.bytes.push_back(flow.bytes);
    out.seconds.push_back(flow.seconds);
    out.ends.push_back(flow.end);
  }
  return out;
}

}  // namespace turnpike::lab
