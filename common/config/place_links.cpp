// SPDX-License-Identifier: BSD-3-Clause
// Nodes and links: which nodes exist, which link ends are at them, and each direction's settings.
#include <algorithm>
#include <filesystem>

#include "common/config/describe.h"
#include "common/config/draft.h"
#include "common/config/scalars.h"

namespace turnpike::config {
namespace {

// A link end with the name of a node that does not exist.
struct Unknown {
  size_t link, end;
  std::string_view name;
};

// Puts an existing node at an end. False: it is a host, which is attached to another link already.
bool settle(Draft& d, size_t link, size_t end, std::string_view node) {
  d.topology.links[link].ends[end].node = node;
  if (const auto router = d.routers.find(node); router != d.routers.end())
    d.topology.routers[router->second].links.push_back(link);
  const auto found = d.hosts.find(node);
  if (found == d.hosts.end()) return true;
  if (d.placed[found->second]) return false;
  d.placed[found->second] = true;
  d.topology.hosts[found->second].link = link;
  d.topology.hosts[found->second].end = end;
  return true;
}

void place_ends(Draft& d, size_t index, std::vector<Unknown>& unknown) {
  const auto& ends = d.link_spec(index).ends;
  if (ends.wrong) {
    d.ends_known = false;
    return;
  }
  const Field<std::string>&first = ends.value[0], &second = ends.value[1];
  const std::string path = d.link_path(index) + ".ends";
  if (!first.wrong && !second.wrong && first.value == second.value) {
    d.mistakes.add(second.at, path + "[1]", "both ends are '" + second.value + "'");
    d.ends_known = false;
    return;
  }
  for (size_t e = 0; e < 2; ++e) {
    const Field<std::string>& end = ends.value[e];
    const std::string where = path + "[" + std::to_string(e) + "]";
    if (end.wrong || d.file.hosts.wrong) {
      d.ends_known = false;
    } else if (!d.hosts.contains(end.value) && !d.routers.contains(end.value)) {
      unknown.push_back({index, e, end.value});
      d.mistakes.add(
          end.at, where,
          "there is no host or router '" + end.value + "'" + suggestion(end.value, d.node_names));
    } else if (!settle(d, index, e, end.value)) {
      const Host& host = d.topology.hosts[d.hosts.find(end.value)->second];
      d.mistakes.add(end.at, where,
                     "host '" + end.value + "' is already attached to link '" +
                         d.topology.links[host.link].name + "': a host has one link");
    }
  }
}

// Reports a misspelt node once: later steps use the node that was probably meant, if it can be at
// this end.
void guess_ends(Draft& d, const std::vector<Unknown>& unknown) {
  for (const auto& [link, end, name] : unknown) {
    const std::string_view meant = nearest(name, d.node_names);
    const auto host = d.hosts.find(meant);
    const bool possible = !meant.empty() && meant != d.topology.links[link].ends[1 - end].node &&
                          (host == d.hosts.end() || !d.placed[host->second]);
    if (possible)
      settle(d, link, end, meant);
    else
      d.ends_known = false;
  }
}

template <class T>
const Field<T>& pick(const Field<T>& common, const Field<T>& own) {
  return own.given ? own : common;
}

// A router's end runs the link's law. A host's end runs one only if its own direction names it.
void place_law(Draft& d, size_t index, size_t direction) {
  const LinkSpec& spec = d.link_spec(index);
  const Field<LinkScheme>& own = (direction == 0 ? spec.forward : spec.reverse).value.law;
  const Link& link = d.topology.links[index];
  const bool from_host = d.hosts.contains(link.ends[direction].node);
  if (!from_host || own.given)
    d.topology.links[index].directions[direction].law = pick(spec.law, own).value;
  if (direction == 0 && spec.law.given && spec.law.value.protocol != "none" && from_host &&
      d.hosts.contains(link.ends[1].node)) {
    d.mistakes.add(spec.law.at, d.link_path(index) + ".law",
                   "both ends are hosts: set the law in `forward` or `reverse`");
  }
}

void place_directions(Draft& d, size_t index) {
  const LinkSpec& spec = d.link_spec(index);
  Link& link = d.topology.links[index];
  bool no_rate = false;
  for (size_t i = 0; i < 2; ++i) {
    const DirectionSpec& own = (i == 0 ? spec.forward : spec.reverse).value;
    Direction& out = link.directions[i];
    const auto& rate = pick(spec.rate, own.rate);
    no_rate |= !rate.given && !rate.wrong;
    out.rate = rate.value;
    out.delay = pick(spec.delay, own.delay).value;
    out.drain =
        pick(spec.drain, own.drain).value == "line-rate" ? Drain::kLineRate : Drain::kShaped;
    const auto& check = pick(spec.source_check, own.source_check);
    out.source_check = static_cast<SourceCheck>(std::ranges::find(kSourceChecks, check.value) -
                                                kSourceChecks.begin());
    // 38 B: header 14, FCS 4, preamble 8 and gap 12 of each Ethernet frame.
    const auto& overhead = pick(spec.overhead, own.overhead);
    out.loss = pick(spec.loss, own.loss).value;
    out.reorder = pick(spec.reorder, own.reorder).value;
    out.jitter = pick(spec.jitter, own.jitter).value;
    out.overhead = overhead.given ? overhead.value : Bytes(out.drain == Drain::kLineRate ? 38 : 0);
    place_law(d, index, i);
    place_classes(d, index, i);
  }
  if (no_rate)
    d.mistakes.add(d.file.links.value[index].at, d.link_path(index), "missing key 'rate'");
  link.mtu = spec.mtu.value;
  link.vlan = spec.vlan.value;
}

// Names of runs allow fewer characters than names of files.
std::string name_from(const std::string& file) {
  std::string name = std::filesystem::path(file).stem().string().substr(0, kMaxNameLength);
  for (char& c : name)
    if (!is_name(std::string(1, c) + "x")) c = '-';
  return is_name(name) ? name : "run";
}

void place_changes(Draft& d, const std::string& name, const HostSpec& spec, Host& host) {
  for (const auto& change : spec.changes.value.items) {
    const Nanos at = change.value.at.value;
    if (!host.changes.empty() && at <= host.changes.back().at)
      d.mistakes.add(change.at, "hosts." + name + ".changes", "changes must be in order of time");
    host.changes.push_back({at, change.value.budget.value});
  }
}

}  // namespace

void place_run(Draft& d) {
  const RunSpec& spec = d.file.run.value;
  Run& run = d.topology.run;
  run.name = spec.name.given ? spec.name.value.text : name_from(d.mistakes.file());
  run.duration = spec.duration.value;
  run.seed = spec.seed.value;
  run.output = spec.output.value;
  run.sample = spec.sample.value;
  run.settle = spec.settle.value;
  run.tolerance = spec.tolerance.value;
  run.udp_port = spec.udp_port.value;
  run.quantum = spec.quantum.value;
  run.preset = d.file.preset.value;
  for (const auto& [name, at, span] : spec.measure.value) {
    const Nanos to = span.to.given ? span.to.value : run.duration;
    const std::string path = "run.measure." + name;
    if (span.from.value >= to)
      d.mistakes.add(at, path, "ends before it begins");
    else if (to > run.duration && !spec.duration.wrong)
      d.mistakes.add(at, path, "ends after the run");
    run.measure.push_back({name, span.from.value, to});
  }
  if (!spec.duration.wrong && !spec.sample.wrong && run.sample > run.duration)
    d.mistakes.add(spec.sample.given ? spec.sample.at : spec.duration.at, "run.sample",
                   "the sampling interval is longer than the run");
}

void place_nodes(Draft& d) {
  for (const auto& [name, at, spec] : d.file.hosts.value) {
    d.hosts.emplace(name, d.topology.hosts.size());
    d.host_names.push_back(name);
    Host& host = d.topology.hosts.emplace_back();
    host.name = name;
    host.budget = spec.budget.value;
    host.strategy = spec.strategy.value;
    host.external = spec.external.value;
    place_changes(d, name, spec, host);
  }
  d.node_names = d.host_names;
  for (const auto& [name, at, spec] : d.file.routers.value) {
    const std::string path = "routers." + name;
    if (d.hosts.contains(name)) d.mistakes.add(at, path, "a host has this name already");
    d.routers.emplace(name, d.topology.routers.size());
    d.node_names.push_back(name);
    Router& router = d.topology.routers.emplace_back();
    router.name = name;
    for (size_t i = 0; i < spec.lcores.value.items.size(); ++i) {
      const auto& lcore = spec.lcores.value.items[i];
      if (lcore.wrong) continue;
      if (std::count(router.lcores.begin(), router.lcores.end(), lcore.value) != 0)
        d.mistakes.add(lcore.at, path + ".lcores[" + std::to_string(i) + "]",
                       "CPU " + std::to_string(lcore.value) + " is listed twice");
      else
        router.lcores.push_back(lcore.value);
    }
    router.rebalance = spec.rss.value.rebalance.value != "off";
    if (router.lcores.empty())
      router.lcores.push_back(static_cast<unsigned>(d.topology.routers.size() - 1));
    router.nic_filters = spec.nic_filters.value == kNicFilters[1];
  }
  d.placed.assign(d.topology.hosts.size(), false);
}

void place_links(Draft& d) {
  const auto& specs = d.file.links.value;
  std::vector<Unknown> unknown;
  if (specs.empty() && d.file.links.given && !d.file.links.wrong)
    d.mistakes.add(d.file.links.at, "links", "there is no link");
  d.topology.links.resize(std::min(specs.size(), kMaxLinks));
  d.round_trips.resize(d.topology.links.size());
  if (specs.size() > kMaxLinks) {
    d.mistakes.add(specs[kMaxLinks].at, "links." + specs[kMaxLinks].name,
                   "more than " + std::to_string(kMaxLinks) + " links");
    d.ends_known = false;
  }
  for (size_t i = 0; i < d.topology.links.size(); ++i) {
    d.topology.links[i].name = specs[i].name;
    d.links.emplace(specs[i].name, i);
    place_ends(d, i, unknown);
  }
  guess_ends(d, unknown);
  for (size_t i = 0; i < d.topology.links.size(); ++i) place_directions(d, i);
  // A host without a link may be the node of an unknown end: report neither.
  if (!d.ends_known || d.file.links.wrong) return;
  for (const auto& [name, at, spec] : d.file.hosts.value)
    if (!d.placed[d.hosts.find(name)->second])
      d.mistakes.add(at, "hosts." + name, "is not attached to any link");
}

}  // namespace turnpike::config
