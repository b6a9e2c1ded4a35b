// SPDX-License-Identifier: BSD-3-Clause
#include "lab/compare/completion.h"

#include <algorithm>
#include <cmath>

#include "common/report/csv.h"
#include "common/report/run_data.h"
#include "lab/batch/values.h"

namespace turnpike::lab {
namespace {

constexpr size_t kParts = 10;

struct Flow {
  double size = 0, took = 0;  // B, s
};

/// By size.
std::vector<Flow> completed(const Comparison& c, const SchemeRun& run) {
  std::vector<Flow> flows;
  const auto text = report::read_text(run.folder + "/flows.csv");
  if (!text || !run.summary.is_object()) return flows;
  const report::Csv csv = report::Csv::parse(*text);
  for (size_t row = 0; row < csv.rows(); ++row) {
    const Flow flow{csv.number(row, "bytes"), csv.number(row, "completion_s")};
    if (flow.took > 0 && flow.size > 0 &&
        std::ranges::find(c.finite, csv.text(row, "flow")) != c.finite.end())
      flows.push_back(flow);
  }
  std::ranges::sort(flows, {}, &Flow::size);
  return flows;
}

/// Where each tenth ends, as a share of the flows: flows of one size are in one tenth.
std::vector<double> ends_of(const std::vector<Flow>& flows) {
  std::vector<double> ends;
  for (size_t part = 1; part <= kParts; ++part) {
    const size_t rank = part * flows.size() / kParts;
    if (rank == 0) continue;
    const auto next = std::ranges::upper_bound(flows, flows[rank - 1].size, {}, &Flow::size);
    const double end =
        static_cast<double>(next - flows.begin()) / static_cast<double>(flows.size());
    if (ends.empty() || end > ends.back()) ends.push_back(end);
  }
  return ends;
}

/// `flows` are one tenth's, by size.
SizeFigures figures(std::vector<Flow> flows) {
  if (flows.empty()) return {.flows = 0, .size = kNan, .mean = kNan, .p99 = kNan};
  SizeFigures f{.flows = flows.size(), .size = flows[flows.size() / 2].size};
  for (const Flow& flow : flows) f.mean += flow.took / static_cast<double>(flows.size());
  std::ranges::sort(flows, {}, &Flow::took);
  f.p99 = flows[static_cast<size_t>(std::ceil(0.99 * static_cast<double>(flows.size()))) - 1].took;
  return f;
}

}  // namespace

std::vector<SizeTenth> completion_by_size(const Comparison& c) {
  std::vector<SizeTenth> tenths;
  std::vector<double> ends;
  for (size_t i = 0; i < c.runs.size(); ++i) {
    const std::vector<Flow> flows = completed(c, c.runs[i]);
    if (flows.empty()) continue;
    const bool first = ends.empty();
    if (first) {
      ends = ends_of(flows);
      tenths.resize(ends.size(), {.runs = std::vector<SizeFigures>(c.runs.size(), figures({}))});
    }
    auto begin = flows.begin();
    for (size_t t = 0; t < tenths.size(); ++t) {
      const auto end = flows.begin() + std::llround(ends[t] * static_cast<double>(flows.size()));
      if (first) {
        tenths[t].least = begin->size;
        tenths[t].greatest = (end - 1)->size;
      }
      tenths[t].runs[i] = figures({begin, end});
      begin = end;
    }
  }
  return tenths;
}

}  // namespace turnpike::lab
