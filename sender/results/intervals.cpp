// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/intervals.h"

#include <algorithm>
#include <set>

#include "common/config/groups.h"
#include "sender/results/entitlement.h"

namespace turnpike::sender {
namespace {

using config::Topology;

Nanos end_of(const Topology& topology, Nanos stop) { return std::min(stop, topology.run.duration); }

bool endless(const config::Flow& f) { return f.size == config::kEndless; }

bool open_at(const Topology& topology, const config::Flow& f, Nanos t) {
  return endless(f) && f.start <= t && t < end_of(topology, f.stop);
}

/// Whether budgets determine the flow's rate: its scheme has prices, its host divides the budget by
/// share, and both budget and demand are constant.
bool claimable(const Topology& topology, const config::Flow& f) {
  const config::Host& host = topology.hosts[f.from];
  return f.protocol == "fcp" && host.strategy == "equal-budget" && host.changes.empty() &&
         !f.background && f.limit.count() <= 0;
}

/// Demand of `flow`; `host_shares`: sum of the shares of its host's open flows.
Demand demand_of(const Topology& topology, const config::Flow& flow, double host_shares) {
  Demand d;
  double heaviest = 1;
  for (const config::Hop& hop : config::hops_of(topology, flow)) {
    const config::Direction& link = topology.links[hop.link].directions[hop.direction];
    const double load = 1 / payload_fraction(link, flow.packet);
    d.path.push_back({hop.link * 2 + hop.direction, load});
    heaviest = std::max(heaviest, load);
  }
  const double share = flow.share * flow.count / host_shares;
  // A sender pays per byte of the IP datagram, without a link's overhead.
  d.weight = topology.hosts[flow.from].budget.count() * share * heaviest;
  return d;
}

void entitle(const Topology& topology, Phase& phase) {
  std::vector<double> shares(topology.hosts.size(), 0);
  for (const config::Flow& f : topology.flows)
    if (open_at(topology, f, phase.from)) shares[f.from] += f.share * f.count;
  std::vector<Demand> demands(topology.flows.size());
  for (size_t i = 0; i < demands.size(); ++i) {
    const config::Flow& f = topology.flows[i];
    if (open_at(topology, f, phase.from) && shares[f.from] > 0)
      demands[i] = demand_of(topology, f, shares[f.from]);
  }
  std::vector<double> capacities;
  for (const config::Link& link : topology.links)
    for (const config::Direction& d : link.directions) capacities.push_back(d.rate.count());

  const Entitlement answer = entitlement(demands, capacities);
  phase.hosts.assign(topology.hosts.size(), BitRate(0));
  for (size_t i = 0; i < demands.size(); ++i) {
    phase.flows.emplace_back(answer.rates[i]);
    phase.hosts[topology.flows[i].from] += phase.flows.back();
  }
  for (size_t l = 0; l < capacities.size(); ++l)
    if (answer.prices[l] > 0) phase.bottlenecks.push_back({l / 2, l % 2});
}

/// Whether at least one flow is open at `from`, and all open flows are claimable().
bool has_shares(const Topology& topology, Nanos from) {
  bool any = false;
  for (const config::Flow& f : topology.flows) {
    if (!open_at(topology, f, from)) continue;
    if (!claimable(topology, f)) return false;
    any = true;
  }
  return any;
}

}  // namespace

double payload_fraction(const config::Direction& direction, Bytes packet) {
  return packet / (packet + direction.overhead);
}

std::vector<Busy> planned_busy(const Topology& topology) {
  std::vector<Busy> busy;
  for (const config::Flow& f : topology.flows)
    if (!endless(f)) busy.push_back({f.start, topology.run.duration});
  for (const config::Workload& w : topology.workloads)
    busy.push_back({w.start, topology.run.duration});
  return busy;
}

std::vector<Phase> phases(const Topology& topology, std::span<const Busy> busy) {
  if (config::has_groups(topology)) return {};
  std::set<Nanos> cuts{Nanos(0), topology.run.duration};
  const auto cut = [&](Nanos t) {
    if (t > Nanos(0) && t < topology.run.duration) cuts.insert(t);
  };
  for (const config::Flow& f : topology.flows)
    if (endless(f)) {
      cut(f.start);
      cut(f.stop);
    }
  for (const Busy& b : busy) {
    cut(b.from);
    cut(b.to);
  }
  std::vector<Phase> all;
  for (auto from = cuts.begin(), to = std::next(from); to != cuts.end(); ++from, ++to) {
    const bool is_busy = std::any_of(busy.begin(), busy.end(),
                                     [&](const Busy& b) { return b.from < *to && *from < b.to; });
    if (is_busy || !has_shares(topology, *from)) continue;
    Phase& phase = all.emplace_back();
    phase.from = *from;
    phase.to = *to;
    entitle(topology, phase);
  }
  return all;
}

std::vector<Phase> steady_intervals(const Topology& topology, std::span<const Busy> busy) {
  std::vector<Phase> all = phases(topology, busy);
  for (Phase& p : all) p.from += topology.run.settle;
  std::erase_if(all, [](const Phase& p) { return p.from >= p.to; });
  return all;
}

}  // namespace turnpike::sender
