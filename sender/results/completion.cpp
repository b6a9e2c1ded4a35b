// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/completion.h"

#include <array>
#include <cmath>
#include <map>
#include <vector>

#include <nlohmann/json.hpp>

#include "sender/results/quantiles.h"

namespace turnpike::sender {
namespace {

struct Bin {
  uint64_t count = 0;
  Nanos sum{0};

  void add(Nanos took) {
    ++count;
    sum += took;
  }
  [[nodiscard]] double mean() const { return to_seconds(sum) / static_cast<double>(count); }
};

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
  Bin all;
  std::map<int, Bin> bins;  // by the power of ten
  uint64_t completed = 0;
  for (const FlowOutcome& f : record.outcomes) {
    if (!f.completed) continue;
    ++completed;
    if (!finite(topology, f)) continue;
    int power = 0;
    for (uint64_t rest = f.bytes; rest >= 10; rest /= 10) ++power;
    all.add(f.end - f.start);
    bins[power].add(f.end - f.start);
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
  if (all.count == 0) return out;

  const auto times = [&](auto&& take) {
    for (const FlowOutcome& f : record.outcomes)
      if (f.completed && finite(topology, f))
        take(static_cast<uint64_t>((f.end - f.start).count()));
  };
  const std::vector<uint64_t> fct = quantiles(times, std::array{.5, .9, .99});
  const auto seconds = [&](size_t i) { return to_seconds(Nanos(fct[i])); };
  out["afct_s"] = all.mean();
  out["fct_s"] = {{"p50", seconds(0)}, {"p90", seconds(1)}, {"p99", seconds(2)}};
  for (const auto& [power, bin] : bins)
    out["by_size"].push_back({{"min_bytes", std::pow(10, power)},
                              {"max_bytes", std::pow(10, power + 1)},
                              {"count", bin.count},
                              {"afct_s", bin.mean()}});
  return out;
}

}  // namespace turnpike::sender
