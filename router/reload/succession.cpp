// SPDX-License-Identifier: BSD-3-Clause
#include "router/reload/succession.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace turnpike::router {
namespace {

std::string_view group_of(const config::Topology& t, const config::Customer& c) {
  return c.group == config::kNoIndex ? std::string_view() : t.groups[c.group].name;
}

/// The customer's own links.
std::vector<std::string_view> links_of(const config::Topology& t, const config::Customer& c) {
  std::vector<std::string_view> names;
  for (const size_t l : c.links) names.emplace_back(t.links[l].name);
  return names;
}

template <class Prefix>
bool same_prefixes(const std::vector<config::CustomerPrefix<Prefix>>& a,
                   const std::vector<config::CustomerPrefix<Prefix>>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.customer == y.customer && x.prefix.address == y.prefix.address &&
           x.prefix.length == y.prefix.length;
  });
}

bool same_names(const std::vector<config::Group>& a, const std::vector<config::Group>& b) {
  return std::ranges::equal(a, b, {}, &config::Group::name, &config::Group::name);
}

/// Whether customers of the same names have the same prefixes, links and groups.
bool same_table(const config::Topology& a, const config::Topology& b) {
  return same_names(a.groups, b.groups) && same_prefixes(a.ipv4_customers, b.ipv4_customers) &&
         same_prefixes(a.ipv6_customers, b.ipv6_customers) &&
         std::ranges::equal(
             a.customers, b.customers, [&](const config::Customer& x, const config::Customer& y) {
               return group_of(a, x) == group_of(b, y) && links_of(a, x) == links_of(b, y);
             });
}

}  // namespace

std::vector<uint16_t> groups_from(const config::Topology& running, const config::Topology& wanted) {
  if (same_names(running.groups, wanted.groups)) return {};
  std::vector<uint16_t> from{0};
  for (const config::Group& g : wanted.groups) {
    const auto at = std::ranges::find(running.groups, g.name, &config::Group::name);
    from.push_back(at == running.groups.end()
                       ? kNewGroup
                       : static_cast<uint16_t>(at - running.groups.begin() + 1));
  }
  return from;
}

Enforcement::Succession succession_of(const config::Topology& running,
                                      const config::Topology& wanted, size_t before, size_t after,
                                      const Enforcement& enforcement) {
  Enforcement::Succession s;
  const auto &a = running.customers, &b = wanted.customers;
  s.same = std::ranges::equal(a, b, {}, &config::Customer::name, &config::Customer::name);
  const auto links = [](const config::Topology& t, size_t router) {
    std::vector<std::string_view> names;
    for (const size_t l : t.routers[router].links) names.push_back(t.links[l].name);
    return names;
  };
  if (s.same && same_table(running, wanted) && links(running, before) == links(wanted, after))
    s.table = &enforcement.customers();
  if (s.same) return s;
  std::map<std::string_view, uint32_t> old;
  for (uint32_t c = 0; c < a.size(); ++c) old.emplace(a[c].name, c + 1);
  s.to.assign(a.size() + 1, 0);
  s.from.push_back(0);
  for (uint32_t c = 0; c < b.size(); ++c) {
    const auto at = old.find(b[c].name);
    s.from.push_back(at == old.end() ? 0 : at->second);
    if (at != old.end()) s.to[at->second] = c + 1;
  }
  return s;
}

void add_changed_budgets(const Enforcement& running, const Enforcement& wanted,
                         Enforcement::Succession& s) {
  if (!s.same) return;
  const auto before = running.per_dollar(), after = wanted.per_dollar();
  for (uint32_t c = 1; c < after.size(); ++c)
    if (before[c] != after[c]) s.changed.push_back(c);
}

}  // namespace turnpike::router
