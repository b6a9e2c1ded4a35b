// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/samples.h"

#include <algorithm>
#include <cmath>

#include "common/report/csv.h"

namespace turnpike::lab {
namespace {

constexpr double kRounding = 1e-9;  // s; times are decimal fractions

}  // namespace

std::string run_folder(const std::string& out, const Experiment& experiment, const RunSpec& run,
                       uint64_t seed) {
  return out + "/" + experiment.id + "/" + run.name + "/seed-" + std::to_string(seed);
}

Samples read_samples(ResultFiles& files, const std::string& folder, const SeriesSpec& spec) {
  Samples out;
  const bool link = spec.kind == SeriesSpec::Kind::kLink;
  const report::Csv* csv = files.csv(folder + (link ? "/links.csv" : "/rates.csv"));
  if (csv == nullptr) return out;
  const auto time = csv->column("t"), value = csv->column(spec.column),
             name = csv->column(link                                   ? "link"
                                : spec.kind == SeriesSpec::Kind::kHost ? "host"
                                                                       : "flow"),
             flow = csv->column("flow");
  for (size_t row = 0; row < csv->rows(); ++row) {
    if (csv->text(row, name) != spec.name) continue;
    if (spec.kind == SeriesSpec::Kind::kHost && !csv->text(row, flow).empty()) continue;
    const double t = csv->number(row, time), v = csv->number(row, value);
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

Completions read_completions(ResultFiles& files, const std::string& folder, double from,
                             double to) {
  struct Flow {
    double end, bytes, seconds;
  };
  std::vector<Flow> flows;
  const report::Csv* csv = files.csv(folder + "/flows.csv");
  if (csv == nullptr) return {};
  const auto size = csv->column("bytes"), time = csv->column("completion_s"),
             start = csv->column("start_s");
  for (size_t row = 0; row < csv->rows(); ++row) {
    const double bytes = csv->number(row, size), seconds = csv->number(row, time);
    if (!(bytes > 0 && seconds > 0)) continue;
    const double end = csv->number(row, start) + seconds;
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
