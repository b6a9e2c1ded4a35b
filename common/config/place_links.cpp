// SPDX-License-Identifier: BSD-3-Clause
// Nodes and links: who is there, who hangs where, and what each direction of a link is like.
#include <algorithm>
#include <filesystem>

#include "common/config/draft.h"

namespace turnpike::config {
namespace {

// The node that an end names. Where the name is a slip of the pen the stages after this one go on
// with what was probably meant, so that one slip is one mistake.
std::string_view end_node(Draft& d, size_t link, size_t end, const Field<std::string>& field) {
  if (field.wrong) return {};
  const std::string& name = field.value;
  if (d.hosts.contains(name) || d.routers.contains(name)) return name;
  if (d.file.hosts.wrong) return {};
  d.mistakes.add(field.at, d.link_path(link) + ".ends[" + std::to_string(end) + "]",
                 "there is no host or router '" + name + "'" + suggestion(name, d.node_names));
  return nearest(name, d.node_names);
}

void place_ends(Draft& d, size_t index) {
  const auto& ends = d.link_spec(index).ends;
  Link& link = d.topology.links[index];
  if (ends.wrong || ends.value.size() != 2) {
    if (!ends.value.empty() && ends.value.size() != 2)
      d.mistakes.add(ends.at, d.link_path(index) + ".ends", "a link has two ends");
    d.ends_known = false;
    if (ends.value.size() != 2) return;
  }
  for (size_t e = 0; e < 2; ++e) {
    link.ends[e].node = end_node(d, index, e, ends.value[e]);
    if (link.ends[e].node.empty()) d.ends_known = false;
  }
  if (!link.ends[0].node.empty() && link.ends[0].node == link.ends[1].node) {
    d.mistakes.add(ends.value[1].at, d.link_path(index) + ".ends[1]",
                   "both ends are '" + link.ends[0].node + "'");
    d.ends_known = false;
    return;
  }
  for (size_t e = 0; e < 2; ++e) {
    const std::string& node = link.ends[e].node;
    if (const auto router = d.routers.find(node); router != d.routers.end())
      d.topology.routers[router->second].links.push_back(index);
    const auto found = d.hosts.find(node);
    if (found == d.hosts.end()) continue;
    Host& host = d.topology.hosts[found->second];
    if (d.placed[found->second]) {
      d.mistakes.add(ends.value[e].at, d.link_path(index) + ".ends[" + std::to_string(e) + "]",
                     "host '" + node + "' already hangs on link '" +
                         d.topology.links[host.link].name + "': a host has one link");
      continue;
    }
    d.placed[found->second] = true;
    host.link = index;
    host.end = e;
  }
}

template <class T>
const Field<T>& pick(const Field<T>& common, const Field<T>& own) {
  return own.given ? own : common;
}

// A host's end only paces; laws are the routers'.
void place_law(Draft& d, size_t index, size_t direction) {
  const LinkSpec& spec = d.link_spec(index);
  const Field<LinkScheme>& own = (direction == 0 ? spec.forward : spec.reverse).value.law;
  const Link& link = d.topology.links[index];
  const bool from_host = d.hosts.contains(link.ends[direction].node);
  const std::string path = d.link_path(index) + (direction == 0 ? ".forward.law" : ".reverse.law");
  if (!from_host) {
    d.topology.links[index].directions[direction].law = pick(spec.law, own).value;
  } else if (own.given && own.value.protocol != "none") {
    d.mistakes.add(own.at, path,
                   "'" + link.ends[direction].node + "' sends here, and hosts run no law");
  } else if (direction == 0 && spec.law.given && spec.law.value.protocol != "none" &&
             d.hosts.contains(link.ends[1].node)) {
    d.mistakes.add(spec.law.at, d.link_path(index) + ".law",
                   "both ends are hosts, and hosts run no law");
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
    no_rate |= !rate.given;
    out.rate = rate.value;
    out.delay = pick(spec.delay, own.delay).value;
    out.drain =
        pick(spec.drain, own.drain).value == "line-rate" ? Drain::kLineRate : Drain::kShaped;
    // 38 B: header 14, FCS 4, preamble 8 and gap 12 that each frame costs on Ethernet.
    const auto& overhead = pick(spec.overhead, own.overhead);
    out.overhead = overhead.given ? overhead.value : Bytes(out.drain == Drain::kLineRate ? 38 : 0);
    place_law(d, index, i);
  }
  if (no_rate)
    d.mistakes.add(d.file.links.value[index].at, d.link_path(index), "missing key 'rate'");
  link.mtu = spec.mtu.value;
}

}  // namespace

void place_run(Draft& d) {
  const RunSpec& spec = d.file.run.value;
  Run& run = d.topology.run;
  run.name =
      spec.name.given ? spec.name.value : std::filesystem::path(d.mistakes.file()).stem().string();
  run.duration = spec.duration.value;
  run.seed = spec.seed.value;
  run.output = spec.output.value;
  run.sample = spec.sample.value;
  run.settle = spec.settle.value;
  run.tolerance = spec.tolerance.value;
  run.udp_port = spec.udp_port.value;
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
  }
  d.node_names = d.host_names;
  for (const auto& [name, at, spec] : d.file.routers.value) {
    const std::string path = "routers." + name;
    if (d.hosts.contains(name)) d.mistakes.add(at, path, "there is a host of this name too");
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
    if (router.lcores.empty())
      router.lcores.push_back(static_cast<unsigned>(d.topology.routers.size() - 1));
  }
  d.placed.assign(d.topology.hosts.size(), false);
}

void place_links(Draft& d) {
  const auto& specs = d.file.links.value;
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
    place_ends(d, i);
    place_directions(d, i);
  }
  // An end that nobody can name might be this host's.
  if (!d.ends_known || d.file.links.wrong) return;
  for (const auto& [name, at, spec] : d.file.hosts.value)
    if (!d.placed[d.hosts.find(name)->second])
      d.mistakes.add(at, "hosts." + name, "hangs on no link");
}

}  // namespace turnpike::config
