// SPDX-License-Identifier: BSD-3-Clause
// Groups and customers, and the routers that enforce customers' budgets.
#include <algorithm>
#include <map>
#include <utility>

#include "common/config/address.h"
#include "common/config/draft.h"
#include "common/config/given_routes.h"
#include "common/config/link_param.h"
#include "common/protocols/link_law.h"

namespace turnpike::config {
namespace {

size_t group_of(Draft& d, const Field<std::string>& group, const std::string& path) {
  if (!group.given || group.wrong) return kNoIndex;
  if (const auto found = d.groups.find(group.value); found != d.groups.end()) return found->second;
  std::vector<std::string_view> names;
  for (const Group& g : d.topology.groups) names.emplace_back(g.name);
  d.mistakes.add(group.at, path,
                 "there is no group '" + group.value + "'" + suggestion(group.value, names));
  return kNoIndex;
}

// Customers so far, by their prefixes and by their links.
struct Taken {
  std::map<PrefixKey<Ipv4Prefix>, std::vector<size_t>> ipv4;
  std::map<PrefixKey<Ipv6Prefix>, std::vector<size_t>> ipv6;
  std::map<size_t, std::vector<size_t>> links;
};

template <class Prefix>
void add_prefix(Draft& d, std::vector<CustomerPrefix<Prefix>>& all,
                std::map<PrefixKey<Prefix>, std::vector<size_t>>& taken, const Prefix& prefix,
                Position at, const std::string& path) {
  const Prefix key = network(prefix);
  if (key.address != prefix.address)
    d.mistakes.add(
        at, path,
        "bits beyond the prefix length are set (did you mean '" + prefix_text(key) + "'?)");
  const size_t customer = d.topology.customers.size() - 1;
  std::vector<size_t>& others = taken[{key.address, key.length}];
  for (size_t i = 0; i < others.size() && !d.mistakes.full(); ++i)
    d.mistakes.add(at, path,
                   prefix_text(key) + " is already a prefix of customer '" +
                       d.topology.customers[others[i]].name + "'");
  others.push_back(customer);
  all.push_back({key, static_cast<uint32_t>(customer)});
}

// Path and position of item `i` of a list. A single value has no position of its own.
template <class T>
std::pair<std::string, Position> item_at(const Field<OneOrMany<T>>& field, size_t i,
                                         const std::string& path) {
  const auto& items = field.value.items;
  if (items.size() == 1) return {path, field.at};
  return {path + "[" + std::to_string(i) + "]", items[i].at};
}

void place_prefixes(Draft& d, const CustomerSpec& spec, Taken& taken, const std::string& path) {
  const auto& items = spec.prefix.value.items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].wrong || spec.prefix.wrong) continue;
    const auto [where, at] = item_at(spec.prefix, i, path + ".prefix");
    if (const auto* v4 = std::get_if<Ipv4Prefix>(&items[i].value.prefix))
      add_prefix(d, d.topology.ipv4_customers, taken.ipv4, *v4, at, where);
    else
      add_prefix(d, d.topology.ipv6_customers, taken.ipv6,
                 std::get<Ipv6Prefix>(items[i].value.prefix), at, where);
  }
}

// All packets of link `l` are the latest customer's.
void add_link(Draft& d, Taken& taken, size_t l, Position at, const std::string& path) {
  std::vector<size_t>& others = taken.links[l];
  const Link& link = d.topology.links[l];
  const std::string vlan = link.vlan == 0 ? "" : " (VLAN " + std::to_string(link.vlan) + ")";
  for (size_t i = 0; i < others.size() && !d.mistakes.full(); ++i)
    d.mistakes.add(at, path,
                   "link '" + link.name + "'" + vlan + " is already that of customer '" +
                       d.topology.customers[others[i]].name + "'");
  others.push_back(d.topology.customers.size() - 1);
  d.topology.customers.back().links.push_back(l);
}

void place_own_links(Draft& d, const CustomerSpec& spec, Taken& taken, const std::string& path) {
  if (!spec.link.given || spec.link.wrong || d.file.links.wrong) return;
  const auto& items = spec.link.value.items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].wrong) continue;
    const auto [where, at] = item_at(spec.link, i, path + ".link");
    if (const auto found = d.links.find(items[i].value); found != d.links.end()) {
      add_link(d, taken, found->second, at, where);
      continue;
    }
    std::vector<std::string_view> names;
    for (const Link& l : d.topology.links) names.emplace_back(l.name);
    d.mistakes.add(at, where,
                   "there is no link '" + items[i].value + "'" + suggestion(items[i].value, names));
  }
}

void place_vlans(Draft& d, const CustomerSpec& spec, Taken& taken, const std::string& path) {
  if (!spec.vlan.given || spec.vlan.wrong || d.file.links.wrong) return;
  const auto& items = spec.vlan.value.items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].wrong) continue;
    const auto [first, last] = items[i].value;
    const auto [where, at] = item_at(spec.vlan, i, path + ".vlan");
    bool any = false;
    for (size_t l = 0; l < d.topology.links.size(); ++l) {
      const uint16_t vlan = d.topology.links[l].vlan;
      if (vlan < first || vlan > last) continue;
      any = true;
      add_link(d, taken, l, at, where);
    }
    const std::string one = std::to_string(first);
    if (!any)
      d.mistakes.add(at, where,
                     "no link has " +
                         (first == last ? "'vlan: " + one + "'"
                                        : "a 'vlan' from " + one + " to " + std::to_string(last)));
  }
}

void place_customer(Draft& d, const Named<CustomerSpec>& named, Taken& taken) {
  const auto& [name, at, spec] = named;
  const std::string path = "customers." + name;
  Customer& customer = d.topology.customers.emplace_back();
  customer.name = name;
  customer.budget = spec.budget.value;
  customer.ceiling = spec.ceiling.value;
  if (spec.ceiling.given && d.file.gateways.value.empty() && !d.file.gateways.wrong)
    d.mistakes.add(spec.ceiling.at, path + ".ceiling",
                   "holds where a gateway sends the customer's packets, and the file has none");
  customer.group = group_of(d, spec.group, path + ".group");
  if (spec.prefix.given + spec.link.given + spec.vlan.given != 1)
    d.mistakes.add(at, path, "needs either 'prefix' or 'link' or 'vlan'");
  place_own_links(d, spec, taken, path);
  place_vlans(d, spec, taken, path);
  place_prefixes(d, spec, taken, path);
}

// Links on which customers arrive: those to hosts, and those that customers have to themselves.
std::vector<size_t> edge_links(const Draft& d, const Router& router, const Taken& taken) {
  std::vector<size_t> links;
  for (const size_t l : router.links) {
    const Link& link = d.topology.links[l];
    if (taken.links.contains(l) || d.hosts.contains(link.ends[1 - link.end_at(router.name)].node))
      links.push_back(l);
  }
  return links;
}

// Budgets buy at the links' prices: every law that can add its price to packets does.
void audit_links(Draft& d) {
  for (Link& link : d.topology.links)
    for (Direction& direction : link.directions)
      if (const auto audit = link_param(direction.law, "audit");
          audit && direction.law.params[*audit] == 0)
        direction.law.params[*audit] = 1;
}

void place_enforcement(Draft& d, size_t index, const Taken& taken) {
  const Field<EnforcementSpec>& field = d.file.routers.value[index].value.enforce;
  if (!field.given || field.wrong) return;
  const EnforcementSpec& spec = field.value;
  Router& router = d.topology.routers[index];
  Enforcement& e = router.enforcement.emplace();
  e.tolerance = spec.tolerance.value;
  e.burst = spec.burst.value;
  e.promise_burst = spec.promise_burst.value;
  e.charge_unpriced = spec.charge_unpriced.value;
  e.unpriced_burst = spec.unpriced_burst.value;
  if (!spec.links.given) {
    e.links = edge_links(d, router, taken);
    for (const size_t l : e.links) check_sources(d, router, l);
    return;
  }
  std::vector<std::string_view> names;
  for (const size_t l : router.links) names.emplace_back(d.topology.links[l].name);
  const auto& items = spec.links.value.items;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto& item = items[i];
    if (item.wrong || spec.links.wrong) continue;
    const Position at = items.size() > 1 ? item.at : spec.links.at;
    const auto found = d.links.find(item.value);
    if (found != d.links.end() && std::ranges::count(router.links, found->second) != 0) {
      e.links.push_back(found->second);
      check_sources(d, router, found->second);
    } else {
      d.mistakes.add(
          at, "routers." + router.name + ".enforce.links",
          "'" + item.value + "' is no link of this router" + suggestion(item.value, names));
    }
  }
}

}  // namespace

void check_sources(Draft& d, const Router& router, size_t index) {
  Link& link = d.topology.links[index];
  const size_t direction = 1 - link.end_at(router.name);
  const LinkSpec& spec = d.link_spec(index);
  const DirectionSpec& own = (direction == 0 ? spec.forward : spec.reverse).value;
  if (!spec.source_check.given && !own.source_check.given)
    link.directions[direction].source_check = SourceCheck::kStrict;
}

void place_customers(Draft& d) {
  const auto& groups = d.file.groups.value;
  if (groups.size() > kMaxGroups)
    d.mistakes.add(groups[kMaxGroups].at, "groups",
                   "more than " + std::to_string(kMaxGroups) + " groups");
  for (const auto& [name, at, spec] : groups) {
    d.groups.emplace(name, d.topology.groups.size());
    d.topology.groups.push_back({name, spec.weight.value});
  }
  Taken taken;
  for (const auto& named : d.file.customers.value) place_customer(d, named, taken);
  const Field<std::string>& table = d.file.customer_table;
  if (table.given && !table.wrong) place_customer_table(d, table);
  for (size_t r = 0; r < d.topology.routers.size(); ++r) place_enforcement(d, r, taken);
  if (std::ranges::any_of(d.topology.routers,
                          [](const Router& r) { return r.enforcement.has_value(); }))
    audit_links(d);
}

}  // namespace turnpike::config
