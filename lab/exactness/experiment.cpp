// SPDX-License-Identifier: BSD-3-Clause
#include "lab/exactness/experiment.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/config/load.h"
#include "lab/results/spans.h"
#include "lab/simulator/world.h"

namespace turnpike::lab {
namespace {

class FinishedFlows final : public sender::OutcomeSink {
 public:
  void flow_ended(const sender::FlowOutcome& o) override {
    if (!o.completed) return;
    sum_ += to_seconds(o.end - o.start);
    ++count_;
  }
  void write(Outcome& out) const {
    out.completed = count_;
    out.completion = count_ > 0 ? sum_ / static_cast<double>(count_) : 0;
  }

 private:
  double sum_ = 0;
  size_t count_ = 0;
};

double narrowest_mbps(const config::Topology& t) {
  BitRate least = t.links.front().directions[0].rate;
  for (const config::Link& link : t.links)
    for (const config::Direction& d : link.directions) least = std::min(least, d.rate);
  return least.count() * 1e-6;
}

void collect(const nlohmann::json& span, const std::string& before, double mbps, Outcome& out) {
  for (const auto& [name, link] : span["links"].items()) {
    if (link["law"].get<std::string>().empty()) continue;
    std::string at = std::string(before).append("links/").append(name);
    out.queues[at] = link["queue_delay_ms"]["mean"];
    out.shares[at.append("/utilization")] = link["utilization"];
  }
  for (const char* kind : {"hosts", "groups"}) {
    if (!span.contains(kind)) continue;
    const std::string group = std::string(before).append(kind).append("/");
    for (const auto& [name, figures] : span[kind].items())
      out.shares[std::string(group).append(name).append("/goodput")] =
          figures["goodput_mbps"].get<double>() / mbps;
  }
}

}  // namespace

Outcome play(const Trimmed& experiment, const Protocol* (*find)(std::string_view name)) {
  Outcome out;
  std::vector<config::Setting> settings;
  for (const std::string& text : experiment.settings)
    settings.push_back(config::parse_setting(text).value());
  const auto loaded = config::load_file(
      TURNPIKE_SOURCE_ROOT "/configs/paper/" + experiment.name + ".yaml", settings);
  if (!loaded) {
    ADD_FAILURE() << loaded.error().front().text();
    return out;
  }
  const config::Topology& t = *loaded;
  FinishedFlows completions;
  auto made = World::make(t, completions, {.seed = t.run.seed, .find = find});
  if (!made) {
    ADD_FAILURE() << made.error();
    return out;
  }
  World& world = **made;
  Spans spans(t);
  spans.mark(world);
  while (world.now() < t.run.duration) {
    world.run_until(std::min(spans.next(world.now()), t.run.duration));
    spans.mark(world);
  }
  nlohmann::json summary = {{"links", nlohmann::json::object()}};
  spans.complete(summary);
  collect(summary, "", narrowest_mbps(t), out);
  for (const auto& [name, span] : summary["measure"].items())
    collect(span, name + "/", narrowest_mbps(t), out);
  for (size_t r = 0; r < t.routers.size(); ++r) {
    const router::Snapshot end = world.router(r).snapshot();
    EXPECT_TRUE(end.conserved()) << t.routers[r].name;
    for (const router::LinkSnapshot& link : end.links)
      for (const Gauge& g : link.gauges)
        out.gauges[t.routers[r].name + "/" + link.name][std::string(g.name)] = g.value;
  }
  completions.write(out);
  for (sender::Sender* s : world.senders()) s->abandon(world.now());
  return out;
}

Difference difference(const std::map<std::string, double>& a,
                      const std::map<std::string, double>& b) {
  Difference d;
  EXPECT_EQ(a.size(), b.size());
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other == b.end()) {
      ADD_FAILURE() << name << " is in one outcome alone";
    } else if (const double apart = std::fabs(value - other->second); apart >= d.most) {
      d = {apart, name};
    }
  }
  return d;
}

}  // namespace turnpike::lab
