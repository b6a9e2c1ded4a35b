// SPDX-License-Identifier: BSD-3-Clause
// Exchanges a running router's parts for those of a changed configuration.
#include <algorithm>

#include "router/reload/change.h"

namespace turnpike::router {

void Router::apply_link(size_t l, Change& change) {
  EgressLink& link = *links_[l];
  Change::Link& c = change.links[l];
  LinkQueue& owner = workers_[link.owner]->queue(l);
  const auto waiting = owner.waiting_bytes(c.kept);
  const bool goes_on = link.take_settings(*c.made, change.groups_from);
  if (c.shaper) {
    for (size_t w = 0; w < link.ring.size(); ++w) {
      if (!link.ring[w]) continue;
      for (unsigned k = 0; k < c.kept && c.moved; ++k) c.made->ring[w]->exchange(*link.ring[w], k);
      std::swap(link.ring[w], c.made->ring[w]);
      link.old_rings.push_back(std::move(c.made->ring[w]));
    }
    owner.replace_shaper(c.shaper, c.kept, c.moved, waiting);
    const auto drained = std::partition(link.old_rings.begin(), link.old_rings.end(),
                                        [&](const auto& ring) { return owner.drains(ring.get()); });
    std::move(drained, link.old_rings.end(), std::back_inserter(c.empty_rings));
    link.old_rings.erase(drained, link.old_rings.end());
  }
  for (const auto& worker : workers_) worker->queue(l).read_link(!goes_on);
}

void Router::apply_customers(Change& change) {
  if (enforcement_)
    for (const uint32_t c : change.gone) enforcement_->add_drops(c, former_.packets, former_.bytes);
  if (change.enforced) change.enforcement->go_on_from(*enforcement_, change.succession);
  std::swap(enforcement_, change.enforcement);
  std::swap(table_, change.table);
  std::swap(customers_, change.customer_list);
}

void Router::apply(Change& change) {
  if (change.tables) {
    std::swap(tables_, change.tables);
    current_.store(tables_.get(), std::memory_order_release);
    file_routes_.store(&tables_->routes(), std::memory_order_release);
  }
  if (change.customers) apply_customers(change);
  for (size_t l = 0; l < links_.size(); ++l) apply_link(l, change);
  for (size_t w = 0; w < workers_.size(); ++w) {
    change.workers[w].customers = customer_table();
    workers_[w]->reconfigure(change.workers[w]);
  }
}

void Router::apply_routes(const Change& change) {
  if (route_table_) change.routes.apply(*route_table_);
}

}  // namespace turnpike::router
