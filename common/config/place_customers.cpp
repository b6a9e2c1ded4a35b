// SPDX-License-Identifier: BSD-3-Clause
// Groups and customers, and the routers that enforce customers' budgets.
#include <algorithm>
#include <map>

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

size_t link_of(Draft& d, const Field<std::string>& link, const std::string& path) {
  if (!link.given || link.wrong || d.file.links.wrong) return kNoIndex;
  if (const auto found = d.links.find(link.value); found != d.links.end()) return found->second;
  std::vector<std::string_view> names;
  for (const Link& l : d.topology.links) names.emplace_back(l.name);
  d.mistakes.add(link.at, path,
                 "there is no link '" + link.value + "'" + suggestion(link.value, names));
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

void place_prefixes(Draft& d, const CustomerSpec& spec, Taken& taken, const std::string& path) {
  const auto& items = spec.prefix.value.items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].wrong || spec.prefix.wrong) continue;
    const std::string where =
        path + ".prefix" + (items.size() > 1 ? "[" + std::to_string(i) + "]" : std::string());
    // A single value has no position of its own.
    const Position at = items.size() > 1 ? items[i].at : spec.prefix.at;
    if (const auto* v4 = std::get_if<Ipv4Prefix>(&items[i].value.prefix))
      add_prefix(d, d.topology.ipv4_customers, taken.ipv4, *v4, at, where);
    else
      add_prefix(d, d.topology.ipv6_customers, taken.ipv6,
                 std::get<Ipv6Prefix>(items[i].value.prefix), at, where);
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
  customer.link = link_of(d, spec.link, path + ".link");
  if (spec.prefix.given == spec.link.given)
    d.mistakes.add(at, path, "needs either 'prefix' or 'link'");
  if (customer.link != kNoIndex) {
    std::vector<size_t>& others = taken.links[customer.link];
    for (size_t i = 0; i < others.size() && !d.mistakes.full(); ++i)
      d.mistakes.add(spec.link.at, path + ".link",
                     "link '" + spec.link.value + "' is already that of customer '" +
                         d.topology.customers[others[i]].name + "'");
    others.push_back(d.topology.customers.size() - 1);
  }
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
