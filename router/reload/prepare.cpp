// SPDX-License-Identifier: BSD-3-Clause
// Builds a changed configuration beside the running one.
#include <algorithm>
#include <map>
#include <optional>

#include "router/parts.h"
#include "router/reload/change.h"
#include "router/reload/kept_classes.h"
#include "router/reload/plan.h"
#include "router/reload/succession.h"

namespace turnpike::router {
namespace {

std::optional<size_t> find_router(const config::Topology& t, const std::string& name) {
  const auto at = std::ranges::find(t.routers, name, &config::Router::name);
  if (at == t.routers.end()) return {};
  return static_cast<size_t>(at - t.routers.begin());
}

/// The links of wanted.routers[after] in the order of the running router's, by name.
std::vector<size_t> in_running_order(const config::Topology& running, size_t before,
                                     const config::Topology& wanted, size_t after) {
  std::vector<size_t> links;
  for (const size_t l : running.routers[before].links)
    for (const size_t k : wanted.routers[after].links)
      if (wanted.links[k].name == running.links[l].name) links.push_back(k);
  return links;
}

/// Whether the trees at a router are the same: their state stays.
bool same_trees(const Tables& a, const Tables& b) {
  const auto same_hop = [](const NextHop* x, const NextHop* y) { return x->link == y->link; };
  const auto same = [&](const TreeEntry& x, const TreeEntry& y) {
    return x.group4 == y.group4 && x.group6 == y.group6 && same_hop(x.upstream, y.upstream) &&
           std::ranges::equal(x.children, y.children, same_hop);
  };
  return std::ranges::equal(a.trees(), b.trees(), same);
}

}  // namespace

void Router::FreeChange::operator()(Change* change) const { delete change; }

tl::expected<void, std::string> Router::prepare_customers(const config::Topology& running,
                                                          const config::Topology& wanted,
                                                          Change& change) {
  const size_t before = *find_router(running, name_), node = *find_router(wanted, name_);
  const config::Router& self = wanted.routers[node];
  change.customers = true;
  change.groups_from = groups_from(running, wanted);
  change.enforced = enforcement_ && self.enforcement;
  if (change.enforced) {
    change.succession = succession_of(running, wanted, before, node, *enforcement_);
  } else if (enforcement_) {
    change.succession.to.assign(running.customers.size() + 1, 0);
  }
  for (uint32_t c = 1; c < change.succession.to.size(); ++c)
    if (change.succession.to[c] == 0) change.gone.push_back(c);
  if (self.enforcement) {
    auto made = Enforcement::make_successor(wanted, node, options_.workers, options_.socket,
                                            change.succession);
    if (!made) return tl::unexpected(made.error());
    change.enforcement = std::move(*made);
    if (change.enforced) add_changed_budgets(*enforcement_, *change.enforcement, change.succession);
    change.customer_list = wanted.customers;
  } else if (CustomerTable::needed(wanted, self)) {
    auto made = CustomerTable::build(wanted, node, options_.socket);
    if (!made) return tl::unexpected(made.error());
    change.table = std::move(*made);
  }
  return {};
}

tl::expected<void, std::string> Router::prepare_link(const config::Topology& running,
                                                     const config::Topology& wanted, size_t l,
                                                     Change& change) {
  const size_t before = *find_router(running, name_), node = *find_router(wanted, name_);
  const CustomerTable* customers = customer_table();
  if (change.customers && change.succession.table == nullptr)
    customers = change.enforcement ? &change.enforcement->customers() : change.table.get();
  EgressLink& link = *links_[l];
  Change::Link& out = change.links.emplace_back();
  out.made = make_link(wanted, node, l, options_, audited_packets(wanted), customers);
  EgressLink& made = *out.made;
  made.owner = link.owner;
  const auto direction = [&](const config::Topology& t, size_t router) -> const auto& {
    const config::Link& given = t.links[t.routers[router].links[l]];
    return given.directions[given.end_at(name_)];
  };
  out.kept = kept_classes(direction(running, before), direction(wanted, node), link.traits.classes,
                          made.traits.classes);
  out.moved = true;
  for (unsigned w = 0; w < options_.workers; ++w)
    if (link.ring[w])
      out.moved =
          out.moved && link.ring[w]->holds(slots_for(
                           made, options_.most_held != 0 ? options_.most_held : pools_[w]->size));
  const bool rings = std::ranges::any_of(link.ring, [](const auto& r) { return r != nullptr; });
  const bool same = out.kept == link.traits.classes && out.kept == made.traits.classes;
  if (!rings || (same && out.moved)) return {};
  for (unsigned w = 0; w < options_.workers; ++w) {
    if (!link.ring[w]) continue;
    made.ring[w] = make_ring(made, w, made.traits.classes);
    if (!made.ring[w]) return tl::unexpected("no memory for the queue of link " + link.name);
  }
  link.old_rings.reserve(link.old_rings.size() + options_.workers);
  out.empty_rings.reserve(link.old_rings.capacity());
  out.shaper = LinkShaper::successor(link, link.owner, options_.slack, made.traits.classes);
  return {};
}

tl::expected<Router::ChangePtr, std::string> Router::prepare(const config::Topology& running,
                                                             const config::Topology& wanted) {
  const auto before = find_router(running, name_), after = find_router(wanted, name_);
  if (!before) return tl::unexpected("the running configuration has no router " + name_);
  const Plan what = plan(running, wanted, *before);
  if (std::string why = what.refusal(); !why.empty()) return tl::unexpected(why);
  if (!after) return tl::unexpected("the file has no router " + name_);
  std::vector<size_t> links = in_running_order(running, *before, wanted, *after);
  if (links.size() != links_.size())
    return tl::unexpected(std::string("the router has other links"));
  if (links != wanted.routers[*after].links) {
    config::Topology ordered = wanted;
    ordered.routers[*after].links = std::move(links);
    return prepare(running, ordered);
  }

  ChangePtr change(new Change);
  if (what.routes) {
    auto tables = build_tables(wanted, *after);
    if (!tables) return tl::unexpected(tables.error());
    change->tables = std::move(*tables);
    if (route_table_)
      change->routes =
          file_route_changes(running, *before, wanted, *after, options_.addresses, *route_table_);
    if (!same_trees(*tables_, *change->tables))
      return tl::unexpected(std::string("restart the router to apply: its multicast trees change"));
  }
  if (what.customers)
    if (auto done = prepare_customers(running, wanted, *change); !done)
      return tl::unexpected(done.error());
  for (size_t l = 0; l < links_.size(); ++l)
    if (auto done = prepare_link(running, wanted, l, *change); !done)
      return tl::unexpected(done.error());

  const bool customers = change->customers;
  for (unsigned w = 0; w < options_.workers; ++w) {
    Worker::Parts parts = parts_of(wanted, *after, w);
    std::vector<EgressLink*> made;
    for (const Change::Link& link : change->links) made.push_back(link.made.get());
    parts.buffers = buffer_share(wanted, *after, options_, made, pools_[w]);
    parts.enforcement = customers ? change->enforcement.get() : enforcement_.get();
    change->workers.push_back(std::move(parts));
  }
  return change;
}

}  // namespace turnpike::router
