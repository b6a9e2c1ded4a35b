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
    case Mutation::kDelay:
      set("delay", static_cast<double>(d.delay.count()) * 2, " ns");
      break;
    case Mutation::kBuffer:
      set("buffer", std::max(1.0, static_cast<double>(d.buffer.count()) / 10), " B");
      break;
    case Mutation::kAccess:
      if (d.law.protocol == "none") set("rate", static_cast<double>(d.rate.count()) / 10, " bps");
      break;
    case Mutation::kScheme:
      break;
  }
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

}  // namespace

tl::expected<std::vector<config::Setting>, std::vector<config::Mistake>> mutated(
    const RunSpec& run, Mutation mutation) {
  auto settings = settings_of(run);
  if (!settings) return settings;
  const auto topology = config::load_file(run.file, *settings);
  if (!topology) return tl::unexpected(topology.error());
  if (mutation == Mutation::kScheme) {
    const bool tcp = std::ranges::any_of(topology->links, [](const config::Link& link) {
      return link.directions[0].law.protocol == "tcp" || link.directions[1].law.protocol == "tcp";
    });
    std::ranges::move(settings_for(*topology, tcp ? "xcp" : "tcp"), std::back_inserter(*settings));
    return settings;
  }
  for (const config::Link& link : topology->links) {
    mutate(link.directions[0], "links." + link.name + ".forward.", mutation, *settings);
    mutate(link.directions[1], "links." + link.name + ".reverse.", mutation, *settings);
  }
  return settings;
}

std::string mutants_folder(const std::string& out, Mutation mutation) {
  static constexpr std::array<const char*, kMutations.size()> kNames{"rate", "delay", "buffer",
                                                                     "access", "scheme"};
  return out + "/mutants/" + kNames[static_cast<size_t>(mutation)];
}

void break_checks(const Experiment& e, const Metrics& right, const std::string& out,
                  Evaluation& evaluation) {
  struct Wrong {
    std::string text;
    Metrics metrics;
  };
  std::vector<Wrong> all;
  for (size_t i = 0; i < kMutations.size(); ++i)
    for (const RunSpec& run : e.runs) {
      const auto mutation = static_cast<Mutation>(i);
      all.push_back({run.name + ": " + std::string(kMutations[i]),
                     metrics_of(e, out, {.run = run.name, .out = mutants_folder(out, mutation)})});
    }
  all.push_back({"ten times the figures of files", metrics_of(e, out, {.file_factor = 10})});
  const auto find_breaker = [&](const CheckSpec& c, CheckResult& result) {
    if (!result.met) return;
    for (const Wrong& wrong : all)
      if (broken(c, e, right, wrong.metrics)) {
        result.broken_by = wrong.text;
        return;
      }
  };
  for (size_t i = 0; i < e.claims.size(); ++i)
    for (size_t j = 0; j < e.claims[i].checks.size(); ++j)
      find_breaker(e.claims[i].checks[j], evaluation.claims[i].checks[j]);
  for (size_t i = 0; i < e.own.size(); ++i) find_breaker(e.own[i], evaluation.own[i]);
}

}  // namespace turnpike::lab
