// SPDX-License-Identifier: BSD-3-Clause
#include "lab/run.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <nlohmann/json.hpp>
#include <rte_version.h>

#include "common/parallel/threads.h"
#include "common/report/run_data.h"
#include "common/report/whole_file.h"
#include "lab/report.h"
#include "lab/results/resolved.h"
#include "lab/results/spans.h"
#include "lab/router_folders.h"
#include "lab/simulator/world.h"
#include "router/results/customers.h"
#include "router/results/record.h"
#include "sender/invariant.h"
#include "sender/observer.h"

namespace turnpike::lab {
namespace {

using Done = tl::expected<void, std::string>;

constexpr Nanos kDrain = 2_s;  // for flows to close at the end
constexpr Nanos kStep = 10_ms;
// Rounding to binary32 and lost packets cause relative errors of this size.
constexpr sender::Invariant::Tolerance kTolerance{.commitment = 2e-3, .spend = 0.05};

class Outcomes final : public sender::OutcomeSink {
 public:
  explicit Outcomes(sender::Recorder& recorder) : recorder_(recorder) {}
  void flow_ended(const sender::FlowOutcome& outcome) override { recorder_.flow_ended(outcome); }

 private:
  sender::Recorder& recorder_;
};

/// The routers' share of the results.
class RouterRecords {
 public:
  static tl::expected<RouterRecords, std::string> open(const config::Topology& t,
                                                       const std::string& folder) {
    RouterRecords r;
    for (const config::Router& router : t.routers) {
      auto record = router::Record::open(router_folder(t, router, folder), router.name);
      if (!record) return tl::unexpected(record.error());
      r.records_.push_back(std::move(*record));
      r.samplers_.emplace_back(0);
    }
    return r;
  }
  void sample(World& world, Nanos now) {
    for (size_t i = 0; i < records_.size(); ++i)
      records_[i].add(samplers_[i].take(world.router(i).snapshot(), now));
  }
  Done finish(const config::Topology& t, World& world) {
    for (size_t i = 0; i < records_.size(); ++i) {
      const router::Snapshot end = world.router(i).snapshot();
      if (!end.conserved())
        return tl::unexpected(t.routers[i].name + ": the counters do not add up");
      const std::vector<PortStats> ports(end.links.size());  // wires count by themselves
      const auto customers = world.router(i).customers();
      if (auto done = records_[i].finish(end, ports, to_seconds(world.now()), Nanos(0), customers,
                                         world.router(i).offenders());
          !done)
        return done;
    }
    return {};
  }

 private:
  std::vector<router::Record> records_;
  std::vector<router::Sampler> samplers_;
};

/// Checks that no host sends or promises more than its budget, until one has.
void check(sender::Invariant& invariant, const World& world, std::optional<std::string>& broken) {
  for (const sender::Sender* s : world.senders())
    for (const auto& host : s->hosts())
      if (!broken) broken = invariant.check(host->index(), host->totals(), world.now());
}

/// Adds the customers and senders whose packets routers have dropped, by router.
void add_offenders(nlohmann::json& summary, const config::Topology& t, World& world) {
  for (size_t i = 0; i < t.routers.size(); ++i)
    if (t.routers[i].enforcement)
      summary["customers"][t.routers[i].name] = router::customers_json(world.router(i).customers());
  for (size_t i = 0; i < t.routers.size(); ++i)
    if (const auto offenders = world.router(i).offenders(); !offenders.empty())
      summary["offenders"][t.routers[i].name] = router::offenders_json(offenders);
}

/// Closes open flows, as at the end of a real run.
void drain(World& world) {
  const auto senders = world.senders();
  for (sender::Sender* s : senders) s->stop(world.now());
  const Nanos end = world.now() + kDrain;
  const auto idle = [&](const sender::Sender* s) { return s->idle(world.now()); };
  while (!std::ranges::all_of(senders, idle) && world.now() < end)
    world.run_until(world.now() + kStep);
  for (sender::Sender* s : senders) s->abandon(world.now());
}

}  // namespace

tl::expected<nlohmann::json, std::string> run_world(const config::Topology& t,
                                                    const std::string& folder,
                                                    const World::Options& options,
                                                    const Play& play) {
  report::remove_results(folder, {"summary.json", "rates.csv", "flows.csv", "report.html"});
  sender::Recorder recorder(t, folder);
  Outcomes outcomes(recorder);
  World::Options with_seed = options;
  with_seed.seed = t.run.seed;
  auto made = World::make(t, outcomes, with_seed);
  if (!made) return tl::unexpected(made.error());
  World& world = **made;
  auto routers = RouterRecords::open(t, folder);
  if (!routers) return tl::unexpected(routers.error());

  Spans spans(t);
  sender::Invariant invariant(t, kTolerance);
  std::optional<std::string> broken;
  spans.mark(world);
  sender::observe(world.senders(), Nanos(0), t, recorder);
  for (Nanos sample = t.run.sample; world.now() < t.run.duration;) {
    const Nanos step = world.now() + kStep;
    play(std::min({sample, spans.next(world.now()), step, t.run.duration}), world);
    check(invariant, world, broken);
    spans.mark(world);
    if (world.now() < std::min(sample, t.run.duration)) continue;
    sender::observe(world.senders(), world.now(), t, recorder);
    routers->sample(world, world.now());
    sample += t.run.sample;
  }
  drain(world);
  sender::observe_delays(world.senders(), recorder);
  sender::observe_limits(world.senders(), recorder);
  sender::observe_streams(world.senders(), t.run.duration, t, recorder);

  nlohmann::json summary =
      recorder.summary({.now = t.run.duration, .facts = {{"DPDK", rte_version()}}});
  spans.complete(summary);
  add_offenders(summary, t, world);
  return routers->finish(t, world)
      .and_then([&] { return recorder.write_series(folder); })
      .and_then(
          [&] { return report::write_text(folder + "/summary.json", summary.dump(2) + "\n"); })
      .and_then([&] { return write_resolved(t, folder); })
      .and_then([&] {
        gather_links(t, folder);
        return finish_report(folder, {}, Threads(options.threads));
      })
      .and_then([&](nlohmann::json whole) -> tl::expected<nlohmann::json, std::string> {
        if (broken) return tl::unexpected(*broken + "; the results are in " + folder);
        return whole;
      });
}

}  // namespace turnpike::lab
