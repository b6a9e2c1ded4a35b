// SPDX-License-Identifier: BSD-3-Clause
#include "lab/throughput/trial_topology.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/config/load.h"
#include "common/config/yaml_writer.h"
#include "common/units/text.h"

namespace turnpike::lab {
namespace {

config::StreamRate times(const config::StreamRate& rate, double share) {
  struct Scaled {
    double share;
    config::StreamRate operator()(config::PacketRate r) const {
      return config::PacketRate{r.per_second * share};
    }
    config::StreamRate operator()(config::L1Rate r) const { return config::L1Rate{scaled(r.rate)}; }
    config::StreamRate operator()(config::L2Rate r) const { return config::L2Rate{scaled(r.rate)}; }
    config::StreamRate operator()(config::LineShare r) const {
      return config::LineShare{r.share * share};
    }
    [[nodiscard]] BitRate scaled(BitRate rate) const { return BitRate(rate.count() * share); }
  };
  return std::visit(Scaled{share}, rate);
}

/// The memif driver identifies a socket by its path and takes one role per path. The two ends
/// therefore spell the path differently.
config::AttachVdev memif_end(const std::string& folder, size_t link, size_t end) {
  const std::string file = "loopback-" + std::to_string(link) + ".sock";
  return {"net_memif" + std::to_string(2 * link + end) +
          ",role=" + (end == 0 ? "server" : "client") + ",socket-abstract=no,socket=" + folder +
          (end == 0 ? "/" : "/./") + file};
}

}  // namespace

config::Topology at_share(const config::Topology& topology, double share, Nanos duration) {
  config::Topology t = topology;
  t.run.duration = duration;
  t.run.sample = std::min(t.run.sample, duration);
  t.run.measure.clear();
  t.flows.clear();
  t.workloads.clear();
  for (config::Stream& s : t.streams) {
    s.rate = times(s.rate, share);
    s.start = Nanos(0);
    s.stop = kNever;
  }
  return t;
}

tl::expected<config::Topology, std::string> loopback(const config::Topology& t,
                                                     const std::string& folder) {
  std::set<std::pair<size_t, size_t>> pairs;
  std::set<size_t> hosts;
  for (const config::Stream& s : t.streams) {
    if (!pairs.insert(std::minmax(s.from, s.to)).second) continue;
    for (const size_t h : {s.from, s.to})
      if (!hosts.insert(h).second)
        return tl::unexpected(t.hosts[h].name + " has streams with several hosts");
  }
  std::string text = "run: {name: loopback}\nhosts:\n", links = "links:\n";
  for (const auto& [a, b] : pairs) {
    const config::Host& first = t.hosts[a];
    const config::Link& line = t.links[first.link];
    text.append("  ")
        .append(config::plain(first.name))
        .append(":\n  ")
        .append(config::plain(t.hosts[b].name))
        .append(":\n");
    links.append("  ")
        .append(config::plain(line.name))
        .append(": {ends: [")
        .append(config::plain(first.name))
        .append(", ");
    links.append(config::plain(t.hosts[b].name)).append("], rate: ");
    links.append(to_text(line.directions[first.end].rate)).append(", mtu: ");
    links.append(std::to_string(line.mtu)).append(", emulate_delay: false}\n");
  }
  auto loaded = config::load_text(text + links, "loopback");
  if (!loaded) return tl::unexpected(loaded.error().front().text());
  for (size_t l = 0; l < loaded->links.size(); ++l)
    for (size_t e = 0; e < 2; ++e) loaded->links[l].ends[e].attachment = memif_end(folder, l, e);
  for (config::Stream s : t.streams) {
    const auto place = [&](size_t host) {
      const auto& all = loaded->hosts;
      const auto at = std::ranges::find(all, t.hosts[host].name, &config::Host::name);
      return static_cast<size_t>(at - all.begin());
    };
    s.from = place(s.from);
    s.to = place(s.to);
    const config::Host& from = loaded->hosts[s.from];
    const config::Host& original = t.hosts[t.streams[loaded->streams.size()].from];
    // A share of the line refers to the file's line rate.
    loaded->links[from.link].directions[from.end].overhead =
        t.links[original.link].directions[original.end].overhead;
    loaded->streams.push_back(std::move(s));
  }
  return std::move(*loaded);
}

}  // namespace turnpike::lab
