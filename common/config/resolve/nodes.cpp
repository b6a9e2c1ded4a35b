// SPDX-License-Identifier: BSD-3-Clause
// Hosts and routers.
#include <string>
#include <vector>

#include "common/config/address.h"
#include "common/config/describe.h"
#include "common/config/resolve/parts.h"
#include "common/config/scalars.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

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

}  // namespace

void write_hosts(YamlWriter& out, const Topology& t) {
  out.map("hosts", [&] {
    for (const Host& h : t.hosts) write_host(out, h);
  });
}

void write_routers(YamlWriter& out, const Topology& t) {
  out.map("routers", [&] {
    for (const Router& r : t.routers) write_router(out, t, r);
  });
}

}  // namespace turnpike::config
