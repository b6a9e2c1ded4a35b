// SPDX-License-Identifier: BSD-3-Clause
// Writes every key with the value that load() gave it. Omits values without a text ("none") and
// derived values that no file can give.
#include "common/config/resolve.h"

#include <cmath>
#include <vector>

#include "common/config/address.h"
#include "common/config/describe.h"
#include "common/config/scalars.h"
#include "common/config/yaml_writer.h"
#include "common/protocols/registry.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

constexpr Bytes kMinPacket{256};  // least that a file may give, see describe.h

std::string scheme(const std::string& name, const ParamValues& params, bool link) {
  const Protocol* protocol = find_protocol(name);
  if (protocol == nullptr) return name;  // a link's "none"
  const auto specs = link ? protocol->link_params : protocol->flow_params;
  std::vector<YamlPair> values;
  for (size_t i = 0; i < specs.size(); ++i)
    values.push_back({std::string(specs[i].name), parameter_text(specs[i], params[i])});
  return mapped({{name, mapped(values)}});
}

void write_run(YamlWriter& out, const Run& run) {
  out.put("preset", run.preset);
  out.map("run", [&] {
    out.put("name", plain(run.name));
    out.put("duration", to_text(run.duration));
    out.put("seed", std::to_string(run.seed));
    out.put("output", in_quotes(run.output));
    out.put("sample", to_text(run.sample));
    out.put("settle", to_text(run.settle));
    out.put("tolerance", number(run.tolerance));
    out.put("udp_port", std::to_string(run.udp_port));
    out.put("quantum", to_text(run.quantum));
    out.map("measure", [&] {
      for (const Span& s : run.measure)
        out.put(plain(s.name), mapped({{"from", to_text(s.from)}, {"to", to_text(s.to)}}));
    });
  });
}

// --- nodes --------------------------------------------------------------------------------------

void write_host(YamlWriter& out, const Host& host) {
  out.map(plain(host.name), [&] {
    out.put("budget", to_text(host.budget));
    out.put("strategy", host.strategy);
    std::vector<std::string> changes;
    for (const BudgetChange& c : host.changes)
      changes.push_back(mapped({{"at", to_text(c.at)}, {"budget", to_text(c.budget)}}));
    if (!changes.empty()) out.put("changes", listed(changes));
    out.put("external", truth(host.external));
  });
}

// Omits computed routes: they follow from the rest, one for each router and link.
template <class Prefix>
void add_routes(const Topology& t, const std::vector<Route<Prefix>>& table, size_t by_hand,
                std::vector<std::string>& out) {
  for (size_t i = 0; i < by_hand; ++i)
    out.push_back(mapped({{"prefix", in_quotes(prefix_text(table[i].prefix))},
                          {"via", plain(t.links[table[i].link].name)},
                          {"distance", std::to_string(table[i].distance)}}));
}

std::string enforcement(const Topology& t, const Enforcement& e) {
  std::vector<std::string> links;
  links.reserve(e.links.size());
  for (const size_t l : e.links) links.push_back(plain(t.links[l].name));
  std::vector<YamlPair> keys{{"tolerance", number(e.tolerance)},
                             {"burst", to_text(e.burst)},
                             {"promise_burst", to_text(e.promise_burst)},
                             {"charge_unpriced", truth(e.charge_unpriced)},
                             {"unpriced_burst", to_text(e.unpriced_burst)}};
  if (!links.empty()) keys.insert(keys.begin(), {"links", listed(links)});
  return mapped(keys);
}

std::string control(const Topology& t, const Router& router) {
  const LinuxControl& c = *router.linux_control;
  std::vector<YamlPair> interfaces, punt;
  for (size_t l = 0; l < c.interfaces.size(); ++l)
    interfaces.push_back({plain(t.links[router.links[l]].name), in_quotes(c.interfaces[l])});
  for (size_t k = 0; k < kPuntClasses; ++k)
    punt.push_back({std::string(kPuntClassNames[k]), number(c.rates[k]) + " /s"});
  std::vector<YamlPair> keys{{"punt", mapped(punt)},
                             {"ttl_expired", std::string(kTtlExpired[c.punt_ttl ? 1 : 0])},
                             {"addresses", std::string(kAddressSources[c.file_addresses ? 0 : 1])}};
  if (!interfaces.empty()) keys.insert(keys.begin(), {"interfaces", mapped(interfaces)});
  if (!c.network_namespace.empty()) keys.push_back({"namespace", plain(c.network_namespace)});
  return mapped({{"linux", mapped(keys)}});
}

void write_router(YamlWriter& out, const Topology& t, const Router& router) {
  out.map(plain(router.name), [&] {
    std::vector<std::string> lcores, routes;
    for (const unsigned lcore : router.lcores) lcores.push_back(std::to_string(lcore));
    out.put("lcores", listed(lcores));
    add_routes(t, router.ipv4_routes, router.ipv4_by_hand, routes);
    add_routes(t, router.ipv6_routes, router.ipv6_by_hand, routes);
    if (!routes.empty()) out.put("routes", listed(routes));
    if (!router.table.empty()) out.put("table", in_quotes(router.table));
    std::vector<std::string> prefixes;
    if (router.ipv4_prefix) prefixes.push_back(in_quotes(prefix_text(*router.ipv4_prefix)));
    if (router.ipv6_prefix) prefixes.push_back(in_quotes(prefix_text(*router.ipv6_prefix)));
    if (!prefixes.empty()) out.put("prefix", listed(prefixes));
    if (router.enforcement) out.put("enforce", enforcement(t, *router.enforcement));
    if (router.fib)
      out.put("fib", mapped({{"ipv4", std::to_string(router.fib->ipv4)},
                             {"ipv6", std::to_string(router.fib->ipv6)}}));
    if (router.linux_control) out.put("control", control(t, router));
    out.put("nic_filters", std::string(kNicFilters[router.nic_filters ? 1 : 0]));
    if (router.lcores.size() > 1 || !router.rebalance)
      out.put("rss", mapped({{"rebalance", std::string(kSwitch[router.rebalance ? 0 : 1])}}));
  });
}

// --- links --------------------------------------------------------------------------------------

struct AttachmentText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(const AttachPci& a) const {
    std::vector<YamlPair> pci{{"address", in_quotes(a.address)}};
    if (a.flow_control)
      pci.push_back(
          {"flow_control", std::string(kFlowControls[static_cast<size_t>(*a.flow_control)])});
    return mapped({{"pci", mapped(pci)}});
  }
  std::string operator()(const AttachMemif& a) const {
    return mapped({{"memif", mapped({{"socket", in_quotes(a.socket)},
                                     {"id", std::to_string(a.id)},
                                     {"server", truth(a.server)}})}});
  }
  std::string operator()(const AttachAfPacket& a) const {
    return mapped({{"af_packet", in_quotes(a.interface)}});
  }
  std::string operator()(const AttachAfXdp& a) const {
    return mapped({{"af_xdp", in_quotes(a.interface)}});
  }
  std::string operator()(const AttachTap& a) const {
    return mapped({{"tap", in_quotes(a.interface)}});
  }
  std::string operator()(AttachRing) const { return "ring"; }
  std::string operator()(const AttachPcap& a) const {
    std::vector<YamlPair> pcap{{"rx", in_quotes(a.rx_file)}, {"repeat", truth(a.repeat)}};
    if (!a.tx_file.empty()) pcap.push_back({"tx", in_quotes(a.tx_file)});
    return mapped({{"pcap", mapped(pcap)}});
  }
  std::string operator()(const AttachVdev& a) const {
    return mapped({{"vdev", in_quotes(a.arguments)}});
  }
};

std::vector<YamlPair> direction(const Direction& d) {
  return {{"rate", to_text(d.rate)},
          {"delay", to_text(d.delay)},
          {"buffer", to_text(d.buffer)},
          {"overhead", to_text(d.overhead)},
          {"loss", number(d.loss)},
          {"reorder", number(d.reorder)},
          {"jitter", to_text(d.jitter)},
          {"drain", std::string(kDrains[d.drain == Drain::kLineRate ? 1 : 0])},
          {"source_check", std::string(kSourceChecks[static_cast<size_t>(d.source_check)])},
          {"law", scheme(d.law.protocol, d.law.params, true)}};
}

struct PrefixText {
  std::string operator()(const auto& prefix) const { return in_quotes(prefix_text(prefix)); }
};

std::string match_text(const ClassMatch& m) {
  std::vector<YamlPair> keys;
  const auto numbers = [&](const char* key, const std::vector<unsigned>& all) {
    std::vector<std::string> out;
    out.reserve(all.size());
    for (const unsigned n : all) out.push_back(std::to_string(n));
    if (!out.empty()) keys.push_back({key, listed(out)});
  };
  const auto prefixes = [&](const char* key, const auto& all) {
    std::vector<std::string> out;
    out.reserve(all.size());
    for (const auto& p : all) out.push_back(std::visit(PrefixText{}, p));
    if (!out.empty()) keys.push_back({key, listed(out)});
  };
  numbers("dscp", m.dscp);
  numbers("protocol", m.protocol);
  numbers("port", m.port);
  prefixes("source", m.source);
  prefixes("destination", m.destination);
  if (m.unpriced) keys.push_back({"unpriced", truth(*m.unpriced)});
  return keys.empty() ? std::string() : mapped(keys);
}

std::string policy_text(const ClassRule& r) {
  switch (r.policy) {
    case PricingPolicy::kStability:
      return mapped({{"stability", mapped({{"factor", number(r.factor)}})}});
    case PricingPolicy::kDeadline:
      return mapped({{"deadline", mapped({{"cap", to_text(BitRate(r.cap * 8))},
                                          {"price", to_text(Price(r.price))}})}});
    case PricingPolicy::kPriority:
      return mapped({{"priority", mapped({{"factor", number(r.factor)}})}});
    case PricingPolicy::kLegacy:
      return mapped(
          {{"legacy",
            mapped({{"share", number(r.share)},
                    {"discipline",
                     std::string(kLegacyQueues[r.discipline == LegacyQueue::kRed ? 1 : 0])}})}});
    case PricingPolicy::kStandard:
      break;
  }
  return "standard";
}

std::string queue_text(double weight) {
  return std::isinf(weight) ? "strict" : mapped({{"weight", number(weight)}});
}

std::string class_text(const LinkClass& c) {
  std::vector<YamlPair> keys;
  if (std::string match = match_text(c.match); !match.empty()) keys.push_back({"match", match});
  keys.push_back({"policy", policy_text(c.rule)});
  if (c.rule.weight > 0) keys.push_back({"queue", queue_text(c.rule.weight)});
  if (c.buffer.count() > 0) keys.push_back({"buffer", to_text(c.buffer)});
  return mapped(keys);
}

/// An outer class with its classes, which begin at `first`; moves `first` behind them.
std::string outer_text(const std::vector<LinkClass>& all, size_t& first) {
  const LinkClass& begin = all[first];
  std::vector<YamlPair> inner, keys;
  for (; first < all.size() && all[first].rule.parent == begin.rule.parent; ++first)
    inner.push_back({plain(all[first].rule.name), class_text(all[first])});
  if (std::string match = match_text(begin.parent_match); !match.empty())
    keys.push_back({"match", match});
  keys.push_back({"queue", queue_text(begin.rule.parent_weight)});
  keys.push_back({"classes", mapped(inner)});
  return mapped(keys);
}

void add_classes(const Direction& d, std::vector<YamlPair>& out) {
  const bool tree = !d.classes.empty() && d.classes.back().rule.parent > 0;
  std::vector<YamlPair> classes;
  for (size_t i = 0; i < d.classes.size();) {
    LinkClass c = d.classes[i];
    if (!c.parent.empty()) {
      classes.push_back({plain(c.parent), outer_text(d.classes, i)});
      continue;
    }
    if (tree) c.rule.weight = c.rule.parent_weight;
    classes.push_back({plain(c.rule.name), class_text(c)});
    ++i;
  }
  if (!classes.empty()) out.push_back({"classes", mapped(classes)});
}

// Settings equal in both directions are written once; the law for each direction, since a host runs
// only a law of its own direction.
void write_directions(YamlWriter& out, const Link& link) {
  const auto forward = direction(link.directions[0]), reverse = direction(link.directions[1]);
  std::vector<YamlPair> forward_own, reverse_own;
  for (size_t i = 0; i < forward.size(); ++i) {
    if (forward[i].key != "law" && forward[i].value == reverse[i].value) {
      out.put(forward[i].key, forward[i].value);
    } else {
      forward_own.push_back(forward[i]);
      reverse_own.push_back(reverse[i]);
    }
  }
  add_classes(link.directions[0], forward_own);
  add_classes(link.directions[1], reverse_own);
  out.put("forward", mapped(forward_own));
  out.put("reverse", mapped(reverse_own));
}

std::string addresses(const Link& link, const Interface& end) {
  std::vector<std::string> out{in_quotes(prefix_text(end.ipv4))};
  // With a smaller MTU no file may give an IPv6 address, and the assigned one is always the same.
  if (link.mtu >= kMinIpv6Mtu) out.push_back(in_quotes(prefix_text(end.ipv6)));
  return listed(out);
}

void write_link(YamlWriter& out, const Link& link) {
  out.map(plain(link.name), [&] {
    const std::vector<std::string> ends{plain(link.ends[0].node), plain(link.ends[1].node)};
    out.put("ends", listed(ends));
    write_directions(out, link);
    out.put("mtu", std::to_string(link.mtu));
    out.put("emulate_delay", truth(link.emulate_delay));
    std::vector<YamlPair> attach, address, mac;
    for (size_t e = 0; e < 2; ++e) {
      const Interface& end = link.ends[e];
      const std::string port = std::visit(AttachmentText{}, end.attachment);
      if (!port.empty()) attach.push_back({ends[e], port});
      address.push_back({ends[e], addresses(link, end)});
      mac.push_back({ends[e], in_quotes(mac_text(end.mac))});
    }
    if (!attach.empty()) out.put("attach", mapped(attach));
    out.put("addresses", mapped(address));
    out.put("macs", mapped(mac));
  });
}

// --- trees --------------------------------------------------------------------------------------

std::string names(const Topology& t, const std::vector<size_t>& hosts) {
  std::vector<std::string> out;
  out.reserve(hosts.size());
  for (const size_t h : hosts) out.push_back(plain(t.hosts[h].name));
  return listed(out);
}

void write_tree(YamlWriter& out, const Topology& t, const Tree& tree) {
  out.map(plain(tree.name), [&] {
    const std::vector<std::string> group{in_quotes(ipv4_text(tree.ipv4)),
                                         in_quotes(ipv6_text(tree.ipv6))};
    out.put("group", listed(group));
    out.put("root", plain(t.hosts[tree.root].name));
    out.put("receivers", names(t, tree.receivers));
  });
}

// --- customers ----------------------------------------------------------------------------------

template <class Prefix>
void add_prefixes(const std::vector<CustomerPrefix<Prefix>>& all,
                  std::vector<std::vector<std::string>>& out) {
  for (const auto& p : all)
    if (p.customer < out.size()) out[p.customer].push_back(in_quotes(prefix_text(p.prefix)));
}

void write_customers(YamlWriter& out, const Topology& t) {
  if (!t.groups.empty())
    out.map("groups", [&] {
      for (const Group& g : t.groups)
        out.put(plain(g.name), mapped({{"weight", number(g.weight)}}));
    });
  const size_t by_hand = t.customers.size() - t.customers_in_table;
  std::vector<std::vector<std::string>> prefixes(by_hand);
  add_prefixes(t.ipv4_customers, prefixes);
  add_prefixes(t.ipv6_customers, prefixes);
  if (by_hand > 0)
    out.map("customers", [&] {
      for (size_t i = 0; i < by_hand; ++i) {
        const Customer& c = t.customers[i];
        std::vector<YamlPair> keys{{"budget", to_text(c.budget)}};
        if (c.ceiling.count() > 0) keys.push_back({"ceiling", to_text(c.ceiling)});
        if (!prefixes[i].empty()) keys.push_back({"prefix", listed(prefixes[i])});
        if (c.link != kNoIndex) keys.push_back({"link", plain(t.links[c.link].name)});
        if (c.group != kNoIndex) keys.push_back({"group", plain(t.groups[c.group].name)});
        out.put(plain(c.name), mapped(keys));
      }
    });
  if (!t.customer_table.empty()) out.put("customer_table", in_quotes(t.customer_table));
}

// --- gateways -----------------------------------------------------------------------------------

void write_peer(YamlWriter& out, const GatewayPeer& peer) {
  const auto* v4 = std::get_if<Ipv4>(&peer.address);
  const std::string address =
      v4 != nullptr ? ipv4_text(*v4) : ipv6_text(std::get<Ipv6>(peer.address));
  std::vector<std::string> prefixes;
  for (const Ipv4Prefix& p : peer.ipv4) prefixes.push_back(in_quotes(prefix_text(p)));
  for (const Ipv6Prefix& p : peer.ipv6) prefixes.push_back(in_quotes(prefix_text(p)));
  out.put(plain(peer.name),
          mapped({{"address", in_quotes(address)}, {"prefix", listed(prefixes)}}));
}

void write_class(YamlWriter& out, const GatewayClass& c) {
  std::vector<YamlPair> keys;
  std::vector<std::string> dscp;
  for (const unsigned value : c.dscp) dscp.push_back(std::to_string(value));
  if (!dscp.empty()) keys.push_back({"dscp", listed(dscp)});
  keys.insert(keys.end(), {{"core_dscp", std::to_string(c.core_dscp)},
                           {"share", number(c.share)},
                           {"background", truth(c.background)}});
  out.put(plain(c.name), mapped(keys));
}

void write_gateway(YamlWriter& out, const Topology& t, const Gateway& g) {
  out.map(plain(t.routers[g.router].name), [&] {
    std::vector<std::string> core;
    for (const size_t l : g.core) core.push_back(plain(t.links[l].name));
    out.put("core", listed(core));
    out.map("peers", [&] {
      for (const GatewayPeer& p : g.peers) write_peer(out, p);
    });
    out.map("classes", [&] {
      for (const GatewayClass& c : g.classes) write_class(out, c);
    });
    out.put("strategy", g.strategy);
    if (g.security) out.put("security", mapped({{"key_file", in_quotes(g.security->key_file)}}));
    out.put("protocol", scheme(g.law.protocol, g.law.params, false));
    out.put("mtu", to_text(g.mtu));
    out.put("limit", to_text(g.limit));
    out.put("target", to_text(g.target));
    out.put("interval", to_text(g.interval));
    out.put("idle", to_text(g.idle));
    out.put("silent_peer", std::string(kSilentPeers[static_cast<size_t>(g.silent_peer)]));
    out.put("outside", std::string(kOutside[g.outside ? 1 : 0]));
  });
}

void write_gateways(YamlWriter& out, const Topology& t) {
  if (t.gateways.empty()) return;
  out.map("gateways", [&] {
    for (const Gateway& g : t.gateways) write_gateway(out, t, g);
  });
}

// --- traffic ------------------------------------------------------------------------------------

template <class Transfer>
void write_transfer(YamlWriter& out, const Transfer& x) {
  out.put("protocol", scheme(x.protocol, x.params, false));
  out.put("ip_version", std::to_string(x.ip_version));
  out.put("start", to_text(x.start));
  if (x.stop != kNever) out.put("stop", to_text(x.stop));
  // A smaller packet is the MTU of a path, not a value from a file.
  if (x.packet >= kMinPacket) out.put("packet", to_text(x.packet));
  out.put("counts", kCounts[x.count_packets ? 1 : 0]);
  if (x.limit.count() > 0) out.put("limit", to_text(x.limit));
  out.put("dscp", std::to_string(x.dscp));
}

void write_flow(YamlWriter& out, const Topology& t, const Flow& flow) {
  out.map(plain(flow.name), [&] {
    out.put("from", plain(t.hosts[flow.from].name));
    out.put("to", plain(t.destination_name(t.destination_of(flow))));
    write_transfer(out, flow);
    if (flow.size != kEndless) out.put("size", to_text(Bytes(static_cast<int64_t>(flow.size))));
    out.put("share", number(flow.share));
    out.put("count", std::to_string(flow.count));
    out.put("background", truth(flow.background));
    if (flow.hold.count() > 0) out.put("hold", to_text(flow.hold));
  });
}

struct ArrivalsText {
  std::string operator()(const PoissonArrivals& a) const {
    return mapped({{"poisson", number(a.per_second) + " /s"}});
  }
  std::string operator()(const PeriodicArrivals& a) const {
    return mapped({{"periodic", number(a.per_second) + " /s"}});
  }
  std::string operator()(const UniformArrivals& a) const {
    return mapped({{"uniform", mapped({{"from", to_text(a.least)}, {"to", to_text(a.most)}})}});
  }
  std::string operator()(TraceArrivals) const { return {}; }  // the trace has the times
};

struct SizeText {
  std::string operator()(const FixedSize& s) const { return mapped({{"fixed", to_text(s.size)}}); }
  std::string operator()(const ParetoSize& s) const {
    std::vector<YamlPair> keys{{"mean", to_text(s.mean)}, {"shape", number(s.shape)}};
    if (s.cap.count() > 0) keys.push_back({"cap", to_text(s.cap)});
    return mapped({{"pareto", mapped(keys)}});
  }
  std::string operator()(const ExponentialSize& s) const {
    return mapped({{"exponential", to_text(s.mean)}});
  }
  std::string operator()(const TraceSize& s) const {
    return mapped({{"trace", in_quotes(s.file)}});
  }
};

void write_workload(YamlWriter& out, const Topology& t, const Workload& w) {
  out.map(plain(w.name), [&] {
    out.put("from", names(t, w.from));
    out.put("to", names(t, w.to));
    write_transfer(out, w);
    const std::string arrivals = std::visit(ArrivalsText{}, w.arrivals);
    if (!arrivals.empty()) out.put("arrivals", arrivals);
    out.put("size", std::visit(SizeText{}, w.size));
    if (w.on.count() == 0) return;
    out.put("on", to_text(w.on));
    out.put("off", to_text(w.off));
  });
}

struct StreamRateText {
  std::string operator()(const PacketRate& r) const {
    return mapped({{"packets", number(r.per_second) + " /s"}});
  }
  std::string operator()(const L1Rate& r) const { return mapped({{"l1", to_text(r.rate)}}); }
  std::string operator()(const L2Rate& r) const { return mapped({{"l2", to_text(r.rate)}}); }
  std::string operator()(const LineShare& r) const { return mapped({{"line", number(r.share)}}); }
};

void write_stream(YamlWriter& out, const Topology& t, const Stream& s) {
  out.map(plain(s.name), [&] {
    out.put("from", plain(t.hosts[s.from].name));
    out.put("to", plain(t.hosts[s.to].name));
    out.put("ip_version", std::to_string(s.ip_version));
    out.put("start", to_text(s.start));
    if (s.stop != kNever) out.put("stop", to_text(s.stop));
    out.put("rate", std::visit(StreamRateText{}, s.rate));
    std::vector<std::string> sizes;
    sizes.reserve(s.frames.size());
    for (const Bytes size : s.frames) sizes.push_back(to_text(size));
    out.put("frames", mapped({{"sizes", listed(sizes)}}));
    out.put("dscp", std::to_string(s.dscp));
    out.put("flows", std::to_string(s.flows));
    out.put("slack", to_text(s.slack));
  });
}

}  // namespace

std::string resolved_text(const Topology& t) {
  YamlWriter out;
  write_run(out, t.run);
  out.map("hosts", [&] {
    for (const Host& h : t.hosts) write_host(out, h);
  });
  out.map("routers", [&] {
    for (const Router& r : t.routers) write_router(out, t, r);
  });
  out.map("links", [&] {
    for (const Link& l : t.links) write_link(out, l);
  });
  write_customers(out, t);
  write_gateways(out, t);
  if (!t.trees.empty())
    out.map("trees", [&] {
      for (const Tree& tree : t.trees) write_tree(out, t, tree);
    });
  out.map("traffic", [&] {
    out.map("flows", [&] {
      for (const Flow& f : t.flows) write_flow(out, t, f);
    });
    out.map("workloads", [&] {
      for (const Workload& w : t.workloads) write_workload(out, t, w);
    });
    out.map("streams", [&] {
      for (const Stream& s : t.streams) write_stream(out, t, s);
    });
  });
  return out.text();
}

}  // namespace turnpike::config
