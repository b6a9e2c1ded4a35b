// SPDX-License-Identifier: BSD-3-Clause
#include "lab/results/spans.h"

#include <array>
#include <span>

#include <nlohmann/json.hpp>

#include "router/datapath/drop_reason.h"
#include "sender/results/link_name.h"

namespace turnpike::lab {
namespace {

using nlohmann::json;

double milliseconds(double nanos) { return nanos * 1e-6; }

json delay_json(const metrics::Histogram& waits) {
  const auto at = [&](double q) { return milliseconds(static_cast<double>(waits.quantile(q))); };
  return {
      {"mean", milliseconds(waits.mean())}, {"p50", at(0.5)}, {"p99", at(0.99)}, {"max", at(1)}};
}

double mbps(uint64_t after, uint64_t before, double seconds) {
  return static_cast<double>(after - before) * 8e-6 / seconds;
}

}  // namespace

Spans::Spans(const config::Topology& t) : topology_(t), spans_(t.run.measure) {
  spans_.push_back({"", Nanos(0), t.run.duration});
  for (const config::Span& s : spans_) {
    readings_[s.from];
    readings_[s.to];
  }
  for (size_t r = 0; r < t.routers.size(); ++r)
    for (size_t p = 0; p < t.routers[r].links.size(); ++p) {
      const size_t link = t.routers[r].links[p];
      egress_.push_back({r, p, link, t.links[link].end_at(t.routers[r].name)});
    }
  prices_.assign(spans_.size(), std::vector<Price>(egress_.size()));
}

Nanos Spans::next(Nanos now) const {
  const auto edge = readings_.upper_bound(now);
  return edge == readings_.end() ? kNever : edge->first;
}

std::vector<router::Snapshot> Spans::snapshots(World& world) const {
  std::vector<router::Snapshot> all;
  for (size_t r = 0; r < topology_.routers.size(); ++r) all.push_back(world.router(r).snapshot());
  return all;
}

void Spans::mark(World& world) {
  std::array<Gauge, LinkLaw::kMaxGauges> gauges;
  for (size_t i = 0; i < egress_.size(); ++i) {
    double now = 0;
    const size_t count = world.router(egress_[i].router).gauges(egress_[i].place, gauges);
    for (const Gauge& g : std::span(gauges).first(count))
      if (g.name == "price" && g.value > kMinPrice.count()) now = g.value;
    for (size_t s = 0; s < spans_.size(); ++s)
      if (spans_[s].from < world.now() && world.now() <= spans_[s].to) {
        Price& price = prices_[s][i];
        price.sum += now;
        price.last = now;
        ++price.samples;
      }
  }
  const auto edge = readings_.find(world.now());
  if (edge != readings_.end()) edge->second = read(world);
}

Spans::Reading Spans::read(World& world) const {
  Reading r;
  const std::vector<router::Snapshot> routers = snapshots(world);
  r.links.reserve(egress_.size());  // copies would take memory of their own
  for (const Egress& e : egress_)
    r.links.push_back({.counters = routers[e.router].links[e.place],
                       .waits = world.router(e.router).waits(e.place),
                       .lost = world.lost(e.link, e.direction)});
  r.hosts.resize(topology_.hosts.size());
  r.groups.resize(topology_.flows.size() + topology_.workloads.size());
  for (const sender::Sender* s : world.senders()) {
    for (const auto& host : s->hosts()) r.hosts[host->index()] = sender::read(host->totals());
    for (size_t g = 0; g < r.groups.size(); ++g) sender::add(r.groups[g], s->groups()[g]);
  }
  return r;
}

json Spans::link_json(size_t i, size_t at) const {
  const config::Span& span = spans_[at];
  const LinkReading &before = readings_.at(span.from).links[i],
                    &after = readings_.at(span.to).links[i];
  const Egress& e = egress_[i];
  const config::Direction& d = topology_.links[e.link].directions[e.direction];
  const double seconds = to_seconds(span.to - span.from);
  const auto& a = after.counters;
  const auto& b = before.counters;
  json drops = json::object();
  for (size_t r = 0; r < router::kDropReasons; ++r)
    if (a.drops[r] > b.drops[r])
      drops[std::string(router::kDropTexts[r].name)] = a.drops[r] - b.drops[r];
  const auto dropped = static_cast<double>(a.egress_drops() - b.egress_drops());
  const double arrived = static_cast<double>(a.in_packets - b.in_packets) + dropped;
  const metrics::Histogram waits = after.waits.since(before.waits);
  const double capacity = bytes_per_second(d.rate);

  const Price& price = prices_[at][i];
  const double mean = price.samples > 0 ? price.sum / static_cast<double>(price.samples) : 0;
  return {{"law", d.law.protocol},
          {"rate_mbps", d.rate.count() * 1e-6},
          {"utilization", static_cast<double>(a.tx_bytes - b.tx_bytes) / seconds / capacity},
          {"loss_rate", arrived > 0 ? dropped / arrived : 0},
          {"dropped_packets", dropped},
          {"lost_on_wire", after.lost - before.lost},
          {"drops", drops},
          {"queue_delay_ms", delay_json(waits)},
          {"queue_bytes",
           {{"mean", (a.waited - b.waited) / seconds},
            {"max", static_cast<double>(waits.max()) * 1e-9 * capacity}}},
          {"price", {{"mean", mean}, {"last", price.last}}}};
}

json Spans::span_json(size_t at) const {
  const config::Span& span = spans_[at];
  json out = {{"from", to_seconds(span.from)},
              {"to", to_seconds(span.to)},
              {"links", json::object()},
              {"hosts", json::object()},
              {"groups", json::object()}};
  for (size_t i = 0; i < egress_.size(); ++i)
    out["links"][sender::link_name(topology_, {egress_[i].link, egress_[i].direction})] =
        link_json(i, at);
  const Reading &a = readings_.at(span.to), &b = readings_.at(span.from);
  const double seconds = to_seconds(span.to - span.from);
  for (size_t h = 0; h < a.hosts.size(); ++h)
    if (a.hosts[h].sent_packets > 0)
      out["hosts"][topology_.hosts[h].name] = {
          {"goodput_mbps", mbps(a.hosts[h].acked_bytes, b.hosts[h].acked_bytes, seconds)},
          {"spend", a.hosts[h].spend - b.hosts[h].spend}};
  const size_t flows = topology_.flows.size();
  for (size_t g = 0; g < a.groups.size(); ++g) {
    const std::string& name =
        g < flows ? topology_.flows[g].name : topology_.workloads[g - flows].name;
    out["groups"][name] = {
        {"goodput_mbps", mbps(a.groups[g].acked_bytes, b.groups[g].acked_bytes, seconds)}};
  }
  return out;
}

void Spans::complete(json& summary) const {
  const json whole = span_json(spans_.size() - 1);
  for (const auto& [name, link] : whole["links"].items()) summary["links"][name] = link;
  summary["groups"] = whole["groups"];
  summary["measure"] = json::object();
  for (size_t i = 0; i + 1 < spans_.size(); ++i) summary["measure"][spans_[i].name] = span_json(i);
  double dropped = 0;
  for (const auto& [name, link] : whole["links"].items())
    dropped += link["dropped_packets"].get<double>();
  summary["verdict"]["dropped_packets"] = dropped;
}

}  // namespace turnpike::lab
