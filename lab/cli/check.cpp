// SPDX-License-Identifier: BSD-3-Clause
// `turnpike check FILE...`: reports every mistake, or describes the run.
#include "lab/cli/check.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/config/address.h"
#include "common/config/describe.h"
#include "common/config/load.h"
#include "common/config/path.h"
#include "common/config/without_law.h"
#include "common/units/printable.h"
#include "common/units/text.h"
#include "lab/batch/case.h"
#include "lab/cli/threads_option.h"
#include "lab/cli/verbs.h"
#include "lab/demo.h"
#include "lab/router_folders.h"

namespace turnpike::lab {
namespace {

using namespace config;

/// Rows of words, each column as wide as its widest.
class Table {
 public:
  void row(std::vector<std::string> words) { rows_.push_back(std::move(words)); }
  /// Adds `n` rows; threads ask for the words of several at the same time.
  void rows(size_t n, const Threads& threads,
            const std::function<std::vector<std::string>(size_t)>& words_of) {
    const size_t first = rows_.size();
    rows_.resize(first + n);
    threads.for_each(n, [&](size_t i) { rows_[first + i] = words_of(i); });
  }

  [[nodiscard]] std::string text() const {
    std::vector<size_t> widths;
    for (const auto& words : rows_) {
      widths.resize(std::max(widths.size(), words.size()));
      for (size_t i = 0; i < words.size(); ++i) widths[i] = std::max(widths[i], words[i].size());
    }
    std::string out;
    for (const auto& words : rows_) {
      std::string line = " ";
      for (size_t i = 0; i < words.size(); ++i)
        line += " " + words[i] + std::string(widths[i] - words[i].size() + 1, ' ');
      out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string number(double v) {
  char out[32];
  std::snprintf(out, sizeof out, "%g", v);
  return out;
}

std::string law_text(const LawChoice& law) {
  return law.protocol == "none" ? "no law" : "law " + law.protocol;
}

std::string port_text(const Attachment& attachment) {
  struct Words {
    std::string operator()(std::monostate) const { return "no port"; }
    std::string operator()(const AttachPci& a) const {
      if (!a.flow_control) return "PCI " + a.address;
      return "PCI " + a.address + ", flow control " +
             std::string(kFlowControls[static_cast<size_t>(*a.flow_control)]);
    }
    std::string operator()(const AttachMemif& a) const {
      return "memif " + a.socket + (a.id == 0 ? "" : " id " + std::to_string(a.id)) +
             (a.server ? " (server)" : " (client)");
    }
    std::string operator()(const AttachAfPacket& a) const { return "af_packet " + a.interface; }
    std::string operator()(const AttachAfXdp& a) const { return "af_xdp " + a.interface; }
    std::string operator()(const AttachTap& a) const { return "tap " + a.interface; }
    std::string operator()(const AttachRing&) const { return "ring in one process"; }
    std::string operator()(const AttachPcap& a) const { return "pcap " + a.rx_file; }
    std::string operator()(const AttachVdev& a) const { return "vdev " + a.arguments; }
  };
  return std::visit(Words{}, attachment);
}

std::string nodes(const Topology& t) {
  Table table;
  for (const Host& h : t.hosts) {
    const Interface& at = t.interface_of(h);
    const std::string role = h.external              ? "external"
                             : h.budget.count() == 0 ? "only receives"
                                                     : to_text(h.budget) + ", " + h.strategy;
    table.row({h.name, "host", role, prefix_text(at.ipv4), prefix_text(at.ipv6), mac_text(at.mac)});
  }
  for (const Router& r : t.routers) {
    std::string cpus = r.lcores.size() == 1 ? "CPU" : "CPUs";
    for (const unsigned c : r.lcores) cpus += " " + std::to_string(c);
    table.row({r.name, "router", cpus, std::to_string(r.links.size()) + " links",
               std::to_string(r.ipv4_routes.size()) + " + " + std::to_string(r.ipv6_routes.size()) +
                   " routes (IPv4 + IPv6)"});
  }
  return table.text();
}

std::string links(const Topology& t, const Threads& threads) {
  Table table;
  table.rows(2 * t.links.size(), threads, [&](size_t i) -> std::vector<std::string> {
    const Link& link = t.links[i / 2];
    const size_t d = i % 2;
    const Direction& way = link.directions[d];
    return {d == 0 ? link.name : "",
            link.ends[d].node + " -> " + link.ends[1 - d].node,
            to_text(way.rate),
            to_text(way.delay),
            "buffer " + to_text(way.buffer),
            law_text(way.law),
            way.drain == Drain::kShaped ? "shaped" : "line rate",
            way.overhead.count() == 0 ? "" : "+" + to_text(way.overhead) + " per packet",
            link.mtu == 1500 ? "" : "MTU " + std::to_string(link.mtu)};
  });
  return table.text();
}

std::string ports(const Topology& t) {
  Table table;
  std::unordered_map<std::string_view, const Host*> hosts;
  for (const Host& h : t.hosts) hosts.emplace(h.name, &h);
  for (const Link& link : t.links)
    for (size_t e = 0; e < 2; ++e) {
      const Interface& end = link.ends[e];
      const auto host = hosts.find(end.node);
      const std::string who = host == hosts.end()      ? "turnpike-router"
                              : host->second->external ? "an external host"
                                                       : "turnpike-sender";
      const std::string vlan =
          end.tagged_port && link.vlan != 0 ? ", VLAN " + std::to_string(link.vlan) : std::string();
      table.row({e == 0 ? link.name : "", end.node, port_text(end.attachment) + vlan, "by " + who});
    }
  return table.text();
}

template <class Transfer>
std::string when(const Transfer& x, const Run& run) {
  return to_text(x.start) + " to " + to_text(std::min(x.stop, run.duration));
}

std::string path_text(const Topology& t, PathFinder& paths, size_t from, size_t to,
                      unsigned version) {
  std::string out = "over";
  for (const Hop& hop : paths.path(from, to, version)) out += " " + t.links[hop.link].name;
  return out + ", round trip " + to_text(round_trip(t, paths, from, to, version));
}

std::string tree_text(const Topology& t, PathFinder& paths, const Flow& f) {
  Nanos longest{0};
  for (const size_t to : receivers_of(t, f))
    longest = std::max(longest, round_trip(t, paths, f.from, to, f.ip_version));
  return std::to_string(receivers_of(t, f).size()) + " receivers over " +
         std::to_string(hops_of(t, paths, f).size()) + " links, longest round trip " +
         to_text(longest);
}

std::string some_hosts(const Topology& t, const std::vector<size_t>& hosts) {
  if (hosts.size() > 3) return std::to_string(hosts.size()) + " hosts";
  std::string out;
  for (const size_t h : hosts) out += (out.empty() ? "" : ", ") + t.hosts[h].name;
  return out;
}

std::string arrivals_text(const Arrivals& arrivals) {
  if (const auto* a = std::get_if<PoissonArrivals>(&arrivals))
    return "poisson " + number(a->per_second) + " /s";
  if (const auto* a = std::get_if<PeriodicArrivals>(&arrivals))
    return "every " + to_text(from_seconds(1 / a->per_second));
  return "from a trace";
}

std::string size_text(const SizeDistribution& size) {
  if (const auto* s = std::get_if<FixedSize>(&size)) return to_text(s->size) + " each";
  if (const auto* s = std::get_if<ParetoSize>(&size))
    return "pareto, mean " + to_text(s->mean) + ", shape " + number(s->shape) +
           (s->cap.count() > 0 ? ", at most " + to_text(s->cap) : "");
  if (const auto* s = std::get_if<ExponentialSize>(&size))
    return "exponential, mean " + to_text(s->mean);
  return std::get<TraceSize>(size).file;
}

struct StreamRateText {
  std::string operator()(const PacketRate& r) const { return number(r.per_second) + " packets/s"; }
  std::string operator()(const L1Rate& r) const { return to_text(r.rate) + " on the line"; }
  std::string operator()(const L2Rate& r) const { return to_text(r.rate) + " of frames"; }
  std::string operator()(const LineShare& r) const {
    return number(100 * r.share) + " % of the line";
  }
};

std::string traffic(const Topology& t) {
  Table table;
  PathFinder paths(t);
  for (const Flow& f : t.flows)
    table.row({f.name, t.hosts[f.from].name + " -> " + t.destination_name(t.destination_of(f)),
               f.protocol + ", IPv" + std::to_string(f.ip_version), when(f, t.run),
               (f.size == kEndless ? "endless" : to_text(Bytes(static_cast<int64_t>(f.size)))) +
                   (f.count == 1 ? "" : " x " + std::to_string(f.count)),
               f.tree == kNoTree ? path_text(t, paths, f.from, f.to, f.ip_version)
                                 : tree_text(t, paths, f)});
  for (const Workload& w : t.workloads)
    table.row({w.name, some_hosts(t, w.from) + " -> " + some_hosts(t, w.to),
               w.protocol + ", IPv" + std::to_string(w.ip_version), when(w, t.run),
               arrivals_text(w.arrivals), size_text(w.size)});
  for (const Stream& s : t.streams)
    table.row({s.name, t.hosts[s.from].name + " -> " + t.hosts[s.to].name,
               "open loop, IPv" + std::to_string(s.ip_version), when(s, t.run),
               std::visit(StreamRateText{}, s.rate),
               path_text(t, paths, s.from, s.to, s.ip_version)});
  return table.text();
}

std::string warnings(const Topology& t) {
  std::string out;
  for (const std::string& name : without_law(t))
    out += "  warning: " + name +
           " crosses no link with a law of its protocol and sends as fast as its first link\n";
  return out;
}

std::string encryption(const Gateway& g, const GatewayPeer& peer) {
  if (!g.security) return "in the clear";
  if (!g.security->unread.empty()) return "encrypted";
  return "encrypted, " + std::to_string(peer.keys.size()) +
         (peer.keys.size() == 1 ? " key" : " keys");
}

std::string gateways(const Topology& t) {
  Table table;
  std::string warnings;
  for (const Gateway& g : t.gateways) {
    const std::string& name = t.routers[g.router].name;
    for (const GatewayPeer& peer : g.peers)
      table.row({name, "to " + peer.name, "by " + g.law.protocol, encryption(g, peer)});
    if (!g.security) continue;
    const std::string& file = g.security->key_file;
    if (!g.security->unread.empty())
      warnings.append("  warning: the keys of ")
          .append(name)
          .append(" were not checked: '")
          .append(file)
          .append("' cannot be read: ")
          .append(g.security->unread)
          .append("\n");
    if (g.security->exposed)
      warnings.append("  warning: others than its owner may read '")
          .append(file)
          .append("': chmod 600 ")
          .append(file)
          .append("\n");
  }
  return table.text() + warnings;
}

/// The name that starts a program from here: its path if it lies near this one.
std::string command(const std::string& name) {
  const std::string path = find_program(own_executable(), name);
  if (path.empty()) return name;
  std::error_code ignored;
  const std::string near = std::filesystem::proximate(path, ignored).string();
  return near.empty() || near.starts_with("..") ? path : near;
}

std::string commands(const Topology& t, const std::string& file) {
  std::string out;
  const std::string router = command("turnpike-router");
  for (const Router& r : t.routers) {
    out.append("  ").append(router).append(" ").append(file);
    if (t.routers.size() > 1)
      out.append(" --node ")
          .append(r.name)
          .append(" --out ")
          .append(router_folder(t, r, t.run.output));
    out += "\n";
  }
  const bool played =
      std::any_of(t.hosts.begin(), t.hosts.end(), [](const Host& h) { return !h.external; });
  if (played)
    out.append("  ").append(command("turnpike-sender")).append(" ").append(file).append("\n");
  return out;
}

ExitCode check(const std::vector<std::string>& files, unsigned count) {
  const Threads threads(count);
  ExitCode code = kExitOk;
  for (const std::string& file : files) {
    const Loaded loaded = load_file(file, {}, threads);
    if (loaded) {
      std::fputs(description(*loaded, file, threads).c_str(), stdout);
      continue;
    }
    for (const Mistake& m : loaded.error()) std::fprintf(stderr, "%s\n", m.text().c_str());
    const size_t n = loaded.error().size();
    std::fprintf(stderr, "%s: %zu mistake%s\n", printable(file, PATH_MAX).c_str(), n,
                 n == 1 ? "" : "s");
    code = kExitBadConfiguration;
  }
  return code;
}

}  // namespace

std::string description(const Topology& t, const std::string& file, const Threads& threads) {
  std::string out = printable(file, PATH_MAX) + ": '" + t.run.name + "' runs for " +
                    to_text(t.run.duration) + " with seed " + std::to_string(t.run.seed) +
                    ", UDP port " + std::to_string(t.run.udp_port) + ", results in " +
                    t.run.output + "\n\n";
  out += "Nodes\n" + nodes(t) + "\nLinks\n" + links(t, threads);
  if (!t.flows.empty() || !t.workloads.empty() || !t.streams.empty())
    out += "\nTraffic\n" + traffic(t) + warnings(t);
  if (!t.gateways.empty()) out += "\nGateways\n" + gateways(t);
  const bool attached = std::any_of(t.links.begin(), t.links.end(), [](const Link& l) {
    return l.ends[0].attachment.index() != 0 || l.ends[1].attachment.index() != 0;
  });
  if (!attached) return out + "\nNo link is attached to ports: nothing to start on real ports.\n";
  return out + "\nPorts\n" + ports(t) + "\nCommands\n" + commands(t, file);
}

void add_check(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand("check",
                                  "report every mistake of topology files, or describe the run; "
                                  "needs no privileges and starts nothing");
  auto files = std::make_shared<std::vector<std::string>>();
  verb->add_option("FILE", *files, "topology files")->required();
  auto threads = std::make_shared<unsigned>(1);
  add_threads(*verb, *threads, "check");
  verb->callback([files, threads, &code] { code = check(*files, *threads); });
}

}  // namespace turnpike::lab
