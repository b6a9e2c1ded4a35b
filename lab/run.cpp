// SPDX-License-Identifier: BSD-3-Clause
#include "lab/run.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>
#include <rte_version.h>

#include "lab/report.h"
#include "lab/router_folders.h"
#include "lab/world.h"
#include "router/results/record.h"
#include "sender/observer.h"

namespace turnpike::lab {
namespace {

using Done = tl::expected<void, std::string>;

constexpr Nanos kDrain = 2_s;  // for flows to close at the end
constexpr Nanos kStep = 10_ms;

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
      const std::vector<PortStats> ports(end.links.size());  // rings count nothing
      if (auto done = records_[i].finish(end, ports, to_seconds(world.now())); !done) return done;
    }
    return {};
  }

 private:
  std::vector<router::Record> records_;
  std::vector<router::Sampler> samplers_;
};

/// Flows that are open close, as at the end of a real run.
void drain(World& world) {
  sender::Sender& sender = world.sender();
  sender.stop(world.now());
  const Nanos end = world.now() + kDrain;
  while (!sender.idle() && world.now() < end) world.run_until(world.now() + kStep);
  sender.abandon(world.now());
}

}  // namespace

tl::expected<nlohmann::json, std::string> run_world(const config::Topology& t,
                                                    const std::string& folder,
                                                    const Progress& progress) {
  sender::Recorder recorder(t);
  Outcomes outcomes(recorder);
  auto made = World::make(t, outcomes, {.seed = t.run.seed});
  if (!made) return tl::unexpected(made.error());
  World& world = **made;
  auto routers = RouterRecords::open(t, folder);
  if (!routers) return tl::unexpected(routers.error());

  sender::Sender* const senders[] = {&world.sender()};
  sender::observe(senders, Nanos(0), t, recorder);
  for (Nanos now(0); now < t.run.duration;) {
    now = std::min(now + t.run.sample, t.run.duration);
    world.run_until(now);
    sender::observe(senders, now, t, recorder);
    routers->sample(world, now);
    progress(now);
  }
  drain(world);
  sender::observe_delays(senders, recorder);

  return routers->finish(t, world)
      .and_then([&] {
        return recorder.write(folder, {.now = t.run.duration,
                                       .wall_s = progress(t.run.duration),
                                       .facts = {{"DPDK", rte_version()}}});
      })
      .and_then([&] {
        gather_links(t, folder);
        return finish_report(folder);
      });
}

unsigned memory_mb(const config::Topology& t) {
  constexpr unsigned kBase = 128, kPerRouter = 96;  // EAL, rings; two FIBs and queues
  return kBase + kPerRouter * static_cast<unsigned>(t.routers.size()) + World::buffers_mb(t);
}

}  // namespace turnpike::lab
