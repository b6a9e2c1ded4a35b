// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/customer_table.h"

#include <algorithm>
#include <cstdio>

#include "common/config/groups.h"

namespace turnpike::router {

namespace {

template <class Prefix>
std::vector<FibEntry<Prefix>> entries_of(const std::vector<config::CustomerPrefix<Prefix>>& all) {
  std::vector<FibEntry<Prefix>> entries;
  entries.reserve(all.size());
  for (const auto& p : all) entries.push_back({p.prefix, p.customer + 1});
  return entries;
}

}  // namespace

bool CustomerTable::needed(const config::Topology& topology, const config::Router& router) {
  return router.enforcement || std::ranges::any_of(router.links, [&](size_t l) {
           const config::Link& link = topology.links[l];
           return config::has_groups(link.directions[link.end_at(router.name)].law);
         });
}

tl::expected<std::unique_ptr<const CustomerTable>, std::string> CustomerTable::build(
    const config::Topology& topology, size_t router, int socket) {
  std::unique_ptr<CustomerTable> t(new CustomerTable);
  t->size_ = topology.customers.size();
  if (t->size_ >= Fib::kMaxValue)
    return tl::unexpected(std::string("more customers than the table holds"));
  // The object's address makes the name unique in the process.
  char name[32];
  std::snprintf(name, sizeof name, "c-%p", static_cast<void*>(t.get()));
  if (!topology.ipv4_customers.empty())
    t->ipv4_ = Dir24::build(entries_of(topology.ipv4_customers));
  auto ipv6 = Fib::build(name, {}, entries_of(topology.ipv6_customers), socket);
  if (!ipv6) return tl::unexpected("table of customers: " + ipv6.error());
  t->ipv6_ = std::move(*ipv6);
  t->groups_.push_back(0);
  for (const config::Customer& c : topology.customers)
    t->groups_.push_back(c.group == config::kNoIndex ? 0 : static_cast<uint16_t>(c.group + 1));
  const std::vector<size_t>& links = topology.routers[router].links;
  t->by_link_.resize(links.size());
  for (size_t c = 0; c < t->size_; ++c) {
    for (const size_t link : topology.customers[c].links) {
      const auto at = std::ranges::find(links, link);
      if (at != links.end())
        t->by_link_[static_cast<size_t>(at - links.begin())] = static_cast<uint32_t>(c + 1);
    }
  }
  return t;
}

}  // namespace turnpike::router
