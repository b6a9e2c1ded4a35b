// SPDX-License-Identifier: BSD-3-Clause
#include "router/reload/effects.h"

#include <algorithm>
#include <string_view>

#include "common/protocols/registry.h"
#include "router/control/customer_table.h"

namespace turnpike::router {
namespace {

constexpr std::string_view kRestart = "restart the router to apply: ";

Consequence refused(std::string_view why) {
  return {.effect = Effect::kRefused, .note = std::string(kRestart) + std::string(why)};
}
Consequence live(std::string note) { return {.effect = Effect::kLive, .note = std::move(note)}; }
Consequence elsewhere(std::string note) {
  return {.effect = Effect::kElsewhere, .note = std::move(note)};
}
Consequence next_start(std::string note) {
  return {.effect = Effect::kNextStart, .note = std::move(note)};
}
Consequence routes(std::string note) {
  return {.effect = Effect::kLive, .note = std::move(note), .routes = true};
}

template <class T>
const T* named(const std::vector<T>& all, const std::string& name) {
  const auto at = std::ranges::find(all, name, &T::name);
  return at == all.end() ? nullptr : &*at;
}

bool has_branch(const config::Topology& t, const std::string& router) {
  const auto here = [&](const config::Branch& b) { return t.routers[b.router].name == router; };
  return std::ranges::any_of(
      t.trees, [&](const config::Tree& tree) { return std::ranges::any_of(tree.branches, here); });
}

bool ends_at(const config::Link& link, const std::string& node) {
  return link.ends[0].node == node || link.ends[1].node == node;
}

}  // namespace

Effects::Effects(const config::Topology& running, const config::Topology& wanted, size_t router)
    : running_(running), wanted_(wanted), self_(running.routers[router]) {
  const config::Router* next = named(wanted.routers, self_.name);
  has_customers_ = CustomerTable::needed(running, self_) ||
                   (next != nullptr && CustomerTable::needed(wanted, *next));
  is_gateway_ = std::ranges::any_of(running.gateways, [&](const config::Gateway& g) {
    return running.routers[g.router].name == self_.name;
  });
  has_trees_ = has_branch(running, self_.name) || has_branch(wanted, self_.name);
}

bool Effects::is_router(const std::string& node) const {
  return named(running_.routers, node) != nullptr;
}

Consequence Effects::of(const Difference& d) const {
  const std::string& top = d.keys[0];
  if (top == "preset") return live("changed parameters are listed where they apply");
  if (top == "run") return of_run(d);
  if (top == "routers") return of_router(d);
  if (top == "links") return of_link(d);
  if (top == "groups" || top == "customers" || top.starts_with("customer_table"))
    return of_customers(d);
  if (top == "gateways") return of_gateway(d);
  if (top == "trees")
    return has_trees_ ? refused("state of multicast trees is made at the start")
                      : elsewhere("not this router's: the tree has no branch here");
  if (top == "hosts") return elsewhere("not this router's: a host's");
  if (top == "traffic") return elsewhere("not this router's: the senders' traffic");
  return refused("this key cannot be changed while the router runs");
}

Consequence Effects::of_run(const Difference& d) const {
  const std::string& key = d.keys[1];
  if (key == "sample") return live("the series goes on with the new interval");
  if (key == "udp_port") return routes("packets to the old port are ordinary traffic from then on");
  if (key == "seed") return next_start("random sequences that have begun go on");
  if (key == "name" || key == "output") return next_start("results are written where they began");
  return elsewhere("not this router's: of the lab, the senders and the reports");
}

Consequence Effects::of_router(const Difference& d) const {
  if (d.keys[1] != self_.name) return elsewhere("not this router's: another router's");
  if (d.keys.size() < 3)
    return refused(d.removed ? "the file has no router of this name" : "another router");
  const std::string& key = d.keys[2];
  if (key == "lcores") return refused("workers are bound to their CPUs at the start");
  if (key == "enforce") {
    Consequence c = live("accounts and counters of customers are kept");
    if (d.added) c.note = "accounts of customers begin empty";
    if (d.removed) c.note = "accounts of customers are dropped, their counters are kept";
    c.customers = true;
    return c;
  }
  if (key == "fib") return refused("the tables have their size from the start");
  if (key == "control") return refused("Linux's interfaces are made at the start");
  if (key == "nic_filters") return refused("NICs get their rules at the start");
  if (key == "rss") return refused("ports are configured at the start");
  if (key == "audits") return live("audits of senders begin or end");
  return routes("new tables are built beside the old; no lookup waits");
}

Consequence Effects::of_customers(const Difference& d) const {
  if (is_gateway_) {
    const bool kept = d.keys[0] == "customers" && d.keys.size() >= 3;
    if (kept && d.keys[2] == "ceiling")
      return live("the customer's tunnels follow within a round trip");
    if (!kept || d.keys[2] != "budget") return refused("customers' tunnels are made at the start");
    if (!has_customers_) return live("the customer's flows follow within a round trip");
  }
  if (!has_customers_) return elsewhere("not this router's: it has no customers");
  if (d.keys.size() >= 3 && d.keys[2] == "ceiling") return elsewhere("ceilings hold at gateways");
  Consequence c = live("debts of customers are kept by name, averages of groups too");
  c.customers = true;
  return c;
}

Consequence Effects::of_gateway(const Difference& d) const {
  if (d.keys.size() >= 2 && d.keys[1] != self_.name)
    return elsewhere("not this router's: another gateway's");
  const auto encrypts = [&](const config::Topology& t) {
    return std::ranges::any_of(t.gateways, [&](const config::Gateway& g) {
      return t.routers[g.router].name == self_.name && g.security;
    });
  };
  if (d.keys.back() == "key_file" && encrypts(running_) && encrypts(wanted_))
    return live("the keys in the file apply");
  return refused("tunnels are made at the start");
}

Consequence Effects::of_link(const Difference& d) const {
  const config::Link* before = named(running_.links, d.keys[1]);
  const config::Link* after = named(wanted_.links, d.keys[1]);
  const bool own = (before != nullptr && ends_at(*before, self_.name)) ||
                   (after != nullptr && ends_at(*after, self_.name));
  if (!own) return elsewhere("not this router's: it does not send on this link");
  if (before == nullptr || after == nullptr || d.keys.size() < 3)
    return refused(d.removed ? "ports close at the end" : "ports open at the start");
  const std::string& key = d.keys[2];
  const size_t end = before->end_at(self_.name);
  const std::string& peer = before->ends[1 - end].node;
  const bool at_peer = d.keys.size() > 3 && d.keys[3] == peer;
  if (key == "ends") return refused("ports open at the start");
  if (key == "mtu") return refused("ports and packet buffers have their size from the start");
  if (key == "vlan") return refused("ports know their VLANs from the start");
  if (key == "attach")
    return at_peer ? elsewhere("not this router's: the other end's port")
                   : refused("ports open at the start");
  if (key == "addresses")
    return routes(at_peer ? "the neighbour's address" : "the router's own address");
  if (key == "macs")
    return at_peer ? routes("the neighbour's address")
                   : refused("a port has its address from the start");
  if (key == "emulate_delay")
    return is_router(peer) ? refused("delay lines are made at the start")
                           : elsewhere("not this router's: the sender emulates this delay");
  if (key != "forward" && key != "reverse")
    return refused("this key cannot be changed while the router runs");
  const size_t direction = key == "forward" ? 0 : 1;
  return of_direction(d, *before, direction == end);
}

Consequence Effects::of_direction(const Difference& d, const config::Link& link,
                                  bool egress) const {
  const std::string key = d.keys.size() > 3 ? d.keys[3] : std::string();
  const std::string& peer = link.ends[1 - link.end_at(self_.name)].node;
  if (key == "source_check")
    return egress ? elsewhere("not this router's: the receiving end checks sources")
                  : routes("the next packets are checked so");
  if (key == "loss" || key == "reorder" || key == "jitter")
    return elsewhere("not this router's: of the lab's links");
  if (!egress) return elsewhere("not this router's: the other end sends so");
  if (key == "rate") return live("queue, price, sums and counters are kept");
  if (key == "buffer")
    return live("packets that wait stay; new ones find no room until fewer wait than fit");
  if (key == "overhead") return routes("sizes of packets that arrive from then on");
  if (key == "delay")
    return is_router(peer) && link.emulate_delay
               ? refused("delay lines are made at the start")
               : elsewhere("not this router's: the cable's or the sender's");
  if (key == "drain") return refused("queues and ports are tied at the start");
  if (key == "law") return of_law(d, link, link.end_at(self_.name));
  if (key == "classes") {
    const config::Link* after = named(wanted_.links, link.name);
    const size_t direction = link.end_at(self_.name);
    if (link.directions[direction].classes.empty() != after->directions[direction].classes.empty())
      return {.effect = Effect::kRestarts,
              .note = "the law's sums begin anew; packets that wait leave first, in their order"};
    return live(
        "classes keep queue, price and sums by name; where packets may change their class, those "
        "that wait leave first");
  }
  return refused("this key cannot be changed while the router runs");
}

Consequence Effects::of_law(const Difference& d, const config::Link& link, size_t direction) const {
  constexpr std::string_view kAnew =
      "the law begins anew with fresh sums; queue and counters are kept";
  const config::LawChoice& law = link.directions[direction].law;
  if (d.keys.size() < 6) return {.effect = Effect::kRestarts, .note = std::string(kAnew)};
  const Protocol* protocol = find_protocol(law.protocol);
  const auto specs = protocol != nullptr ? protocol->link_params : std::span<const ParamSpec>();
  const auto spec = std::ranges::find(specs, d.keys[5], &ParamSpec::name);
  if (spec == specs.end() || spec->restarts)
    return {.effect = Effect::kRestarts, .note = std::string(kAnew)};
  Consequence c = live("queue, price, sums and counters are kept");
  c.customers = d.keys[5] == "groups";
  return c;
}

}  // namespace turnpike::router
