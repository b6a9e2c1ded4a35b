// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/completion.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

namespace turnpike::sender {
namespace {

struct Bin {
  uint64_t count = 0;
  double sum = 0;  // s
};

/// The smallest value that at least `share` of the sorted values do not exceed.
double quantile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(1., rank)) - 1];
}

/// Jain's fairness index: (sum x)^2 / (n sum x^2).
nlohmann::json jain(const config::Topology& topology, const Record& record) {
  double sum = 0, squares = 0;
  uint64_t n = 0;
  for (const FlowOutcome& f : record.outcomes) {
    if (f.end <= f.start) continue;
    const double budget = topology.hosts[f.host].budget.count();
    const double rate =
        static_cast<double>(f.bytes) / to_seconds(f.end - f.start) / (budget > 0 ? budget : 1);
    sum += rate;
    squares += rate * rate;
    ++n;
  }
  if (!(squares > 0)) return nullptr;
  return sum * sum / (static_cast<double>(n) * squares);
}

}  // namespace

nlohmann::json completion_summary(const config::Topology& topology, const Record& record) {
  std::vector<double> times;
  std::map<int, Bin> bins;  // by the power of ten
  uint64_t completed = 0;
  for (const FlowOutcome& f : record.outcomes) {
    if (!f.completed) continue;
    ++completed;
    if (!finite(topology, f)) continue;
    const double took = to_seconds(f.end - f.start);
    times.push_back(took);
    int power = 0;
    for (uint64_t rest = f.bytes; rest >= 10; rest /= 10) ++power;
    bins[power].sum += took;
    ++bins[power].count;
  }
  nlohmann::json out = {{"count", record.outcomes.size()}, {"completed", completed}};
  if (const auto& l = record.limits) {
    out["asked_for"] = l->started + l->not_started;
    out["started"] = l->started;
    out["not_started"] = l->not_started;
    out["delayed"] = l->delayed;
    out["unfinished"] = l->started - completed;
  }
  if (auto index = jain(topology, record); !index.is_null()) out["jain"] = std::move(index);
  if (times.empty()) return out;

  std::sort(times.begin(), times.end());
  double sum = 0;
  for (const double t : times) sum += t;
  out["afct_s"] = sum / static_cast<double>(times.size());
  out["fct_s"] = {
      {"p50", quantile(times, .5)}, {"p90", quantile(times, .9)}, {"p99", quantile(times, .99)}};
  for (const auto& [power, bin] : bins)
    out["by_size"].push_back({{"min_bytes", std::pow(10, power)},
                              {"max_bytes", std::pow(10, power + 1)},
                              {"count", bin.count},
                              {"afct_s", bin.sum / static_cast<double>(bin.count)}});
  return out;
}

}  // namespace turnpike::sender
