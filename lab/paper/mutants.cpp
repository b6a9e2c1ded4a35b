// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/mutants.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "lab/compare/compare.h"
#include "lab/paper/bounds.h"
#include "lab/paper/schemes.h"

namespace turnpike::lab {
namespace {

/// The direction's settings with the mutation, below "links.NAME.forward." or ".reverse.".
void mutate(const config::Direction& d, const std::string& path, Mutation mutation,
            std::vector<config::Setting>& settings) {
  const auto set = [&](const char* key, double value, const char* unit) {
    settings.push_back({path + key, std::to_string(std::llround(value)) + unit});
  };
  switch (mutation) {
    case Mutation::kRate:
      set("rate", static_cast<double>(d.rate.count()) / 2, " bps");
      break;
    case Mutation::kFast:
      set("rate", static_cast<double>(d.rate.count()) * 10, " bps");
      break;
    case Mutation::kDelay:
      set("delay", static_cast<double>(d.delay.count()) * 2, " ns");
      break;
    case Mutation::kBuffer:
      set("buffer", std::max(1.0, static_cast<double>(d.buffer.count()) / 10), " B");
      break;
    case Mutation::kAccess:
    case Mutation::kSomeAccess:
      set("rate", static_cast<double>(d.rate.count()) / 100, " bps");
      break;
    case Mutation::kScheme:
    case Mutation::kLimit:
    case Mutation::kSomeLimit:
    case Mutation::kOwn:
      break;
  }
}

bool has_law(const config::Link& link) {
  return link.directions[0].law.protocol != "none" || link.directions[1].law.protocol != "none";
}

/// Whether a check that is met fails when one of its metrics has its value of `wrong`.
bool broken(const CheckSpec& c, const Experiment& e, const Metrics& right, const Metrics& wrong) {
  const auto value = [&](const std::string& name, const Metrics& metrics) {
    return name.empty() ? 0
                        : shown(*std::ranges::find(e.metrics, name, &MetricSpec::name), metrics);
  };
  const double of = value(c.metric, right), wrong_of = value(c.metric, wrong);
  if (!std::isnan(wrong_of) && !holds(c, wrong_of, value(c.other, right))) return true;
  const double wrong_other = value(c.other, wrong);
  return !std::isnan(wrong_other) && !holds(c, of, wrong_other);
}

/// Calls `call` with each check that is met and that nothing has broken, and with its result.
template <class Results, class Call>
void each_unbroken(const Experiment& e, Results& evaluation, const Call& call) {
  const auto pass = [&](const CheckSpec& c, auto& result) {
    if (result.met && result.broken_by.empty()) call(c, result);
  };
  for (size_t i = 0; i < e.claims.size(); ++i)
    for (size_t j = 0; j < e.claims[i].checks.size(); ++j)
      pass(e.claims[i].checks[j], evaluation.claims[i].checks[j]);
  for (size_t i = 0; i < e.own.size(); ++i) pass(e.own[i], evaluation.own[i]);
}

/// Sets `broken_by` of the checks that the wrong metrics break to `what`.
void break_with(const Experiment& e, const Metrics& right, const Metrics& wrong,
                const std::string& what, Evaluation& evaluation) {
  each_unbroken(e, evaluation, [&](const CheckSpec& c, CheckResult& result) {
    if (broken(c, e, right, wrong)) result.broken_by = what;
  });
}

/// Adds the runs that a metric reads, itself or by the metrics that it is computed from.
void add_runs(const Experiment& e, const std::string& name, std::set<size_t>& runs) {
  if (name.empty()) return;
  const MetricSpec& metric = *std::ranges::find(e.metrics, name, &MetricSpec::name);
  if (const auto* ratio = std::get_if<Ratio>(&metric.source)) {
    add_runs(e, ratio->of, runs);
    add_runs(e, ratio->to, runs);
  } else if (const auto* combined = std::get_if<Combined>(&metric.source)) {
    for (const std::string& of : combined->of) add_runs(e, of, runs);
  } else if (!std::holds_alternative<Constant>(metric.source) &&
             !std::holds_alternative<FromFile>(metric.source)) {
    if (const auto* completions = std::get_if<FromCompletions>(&metric.source))
      add_runs(e, completions->first, runs);
    for (const std::string& run : metric.runs)
      runs.insert(
          static_cast<size_t>(std::ranges::find(e.runs, run, &RunSpec::name) - e.runs.begin()));
  }
}

}  // namespace

tl::expected<std::vector<config::Setting>, std::vector<config::Mistake>> mutated(
    const RunSpec& run, Mutation mutation) {
  auto settings = settings_of(run);
  if (!settings) return settings;
  if (mutation == Mutation::kOwn) {
    settings->insert(settings->end(), run.mistake.begin(), run.mistake.end());
    return settings;
  }
  const auto topology = config::load_file(run.file, *settings);
  if (!topology) return tl::unexpected(topology.error());
  if (mutation == Mutation::kScheme && !run.count.empty()) {
    std::ranges::move(settings_for(*topology, counted_law(run, mutation) + "+paper"),
                      std::back_inserter(*settings));
    settings->push_back({"run.quantum", "0 s"});
    return settings;
  }
  if (mutation == Mutation::kScheme) {
    const bool tcp = std::ranges::any_of(topology->links, [](const config::Link& link) {
      return link.directions[0].law.protocol == "tcp" || link.directions[1].law.protocol == "tcp";
    });
    std::ranges::move(settings_for(*topology, tcp ? "xcp" : "tcp"), std::back_inserter(*settings));
    return settings;
  }
  bool other = false;
  if (mutation == Mutation::kLimit || mutation == Mutation::kSomeLimit) {
    const auto limit = [&](const std::string& path) {
      other = !other;
      if (mutation == Mutation::kLimit || other)
        settings->push_back({"traffic." + path + ".limit", "10 Kbps"});
    };
    for (const config::Flow& flow : topology->flows) limit("flows." + flow.name);
    for (const config::Workload& w : topology->workloads) limit("workloads." + w.name);
    return settings;
  }
  for (const config::Link& link : topology->links) {
    if (mutation == Mutation::kAccess || mutation == Mutation::kSomeAccess) {
      if (has_law(link)) continue;
      other = !other;
      if (mutation == Mutation::kSomeAccess && !other) continue;
    }
    mutate(link.directions[0], "links." + link.name + ".forward.", mutation, *settings);
    mutate(link.directions[1], "links." + link.name + ".reverse.", mutation, *settings);
  }
  return settings;
}

std::string counted_law(const RunSpec& run, Mutation mutation) {
  if (run.count.empty()) return {};
  if (mutation == Mutation::kOwn) return run.count + "+made";
  if (mutation != Mutation::kScheme) return run.count;
  return run.count == "fcp" ? "xcp" : "fcp";
}

std::string mutants_folder(const std::string& out, Mutation mutation) {
  static constexpr std::array<const char*, kMutations.size()> kNames{
      "scheme",      "limit", "some-limit", "own",    "access",
      "some-access", "rate",  "delay",      "buffer", "fast"};
  return out + "/mutants/" + kNames[static_cast<size_t>(mutation)];
}

std::set<size_t> runs_to_mutate(const Experiment& e, Mutation mutation,
                                const Evaluation& evaluation, const std::vector<double>& seconds) {
  std::set<size_t> all;
  each_unbroken(e, evaluation, [&](const CheckSpec& c, const CheckResult&) {
    std::set<size_t> runs;
    add_runs(e, c.metric, runs);
    add_runs(e, c.other, runs);
    if (mutation == Mutation::kOwn)
      std::erase_if(runs, [&](size_t r) { return e.runs[r].mistake.empty(); });
    if (seconds.empty())
      all.merge(runs);
    else if (!runs.empty())
      all.insert(*std::ranges::min_element(runs, {}, [&](size_t r) { return seconds[r]; }));
  });
  return all;
}

void break_checks(const Experiment& e, const Metrics& right, const std::string& out,
                  const std::set<size_t>& runs, Mutation mutation, Evaluation& evaluation) {
  WrongResults wrong{.out = mutants_folder(out, mutation), .right = &right};
  for (const size_t run : runs) wrong.runs.insert(e.runs[run].name);
  const std::string what = wrong.runs.size() == 1 ? *wrong.runs.begin() : "several runs";
  break_with(e, right, metrics_of(e, out, wrong),
             what + ": " + std::string(kMutations[static_cast<size_t>(mutation)]), evaluation);
}

void break_file_checks(const Experiment& e, const Metrics& right, const std::string& out,
                       Evaluation& evaluation) {
  break_with(e, right, metrics_of(e, out, {.file_factor = 10, .right = &right}),
             "ten times the figures of files", evaluation);
  break_with(e, right, metrics_of(e, out, {.file_factor = 0.1, .right = &right}),
             "a tenth of the figures of files", evaluation);
}

}  // namespace turnpike::lab
