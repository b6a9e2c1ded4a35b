// SPDX-License-Identifier: BSD-3-Clause
// Keys of a topology file: hosts and routers.
#pragma once

#include <array>
#include <string_view>

#include "common/config/describe/about.h"

namespace turnpike::config {

inline constexpr std::array<std::string_view, 7> kStrategies{
    "equal-budget", "max-min",   "equal-throughput", "max-throughput",
    "background",   "stability", "each-flow"};
inline constexpr std::array<std::string_view, 2> kSwitch{"on", "off"};
inline constexpr std::array<std::string_view, 2> kTtlExpired{"answer", "punt"};
inline constexpr std::array<std::string_view, 2> kAddressSources{"file", "kernel"};
inline constexpr std::array<std::string_view, 2> kNicFilters{"off", "on"};

template <class V>
void describe(V& v, BudgetChangeSpec& s) {
  v.field("at", s.at, {.doc = "in time since the run's start", .min = "0 s", .required = true});
  v.field(
      "budget", s.budget,
      {.doc = "budget from then on", .min = "0 $/s", .max = "1000000000 $/s", .required = true});
}

template <class V>
void describe(V& v, HostSpec& s) {
  v.field("budget", s.budget,
          {.doc = "budget; 0: the host only receives",
           .fallback = "0 $/s",
           .min = "0 $/s",
           .max = "1000000000 $/s"});
  v.field("strategy", s.strategy,
          {.doc = "how the budget is divided among the host's flows; each-flow: every flow has a "
                  "budget of its own",
           .fallback = kStrategies[0],
           .words = kStrategies});
  v.field("changes", s.changes, {.doc = "the budget at later times"});
  v.field("external", s.external,
          {.doc = "a real machine or kernel: the sender does not emulate it", .fallback = "false"});
  v.field("addresses", s.addresses,
          {.doc = "one IPv4 and one IPv6 address with prefix length; assigned unless given"});
  v.field("mac", s.mac, {.doc = "Ethernet address; assigned unless given"});
}

template <class V>
void describe(V& v, RouteSpec& s) {
  v.field("prefix", s.prefix, {.doc = "destinations, such as 10.9.0.0/16", .required = true});
  v.field("via", s.via, {.doc = "a neighbour's address, or a link's name", .required = true});
  v.field("distance", s.distance,
          {.doc = "administrative distance; with `fib`, of several routes to a prefix that of the "
                  "smallest distance serves",
           .fallback = "1",
           .min = "0",
           .max = "255"});
}

template <class V>
void describe(V& v, FibSpec& s) {
  v.field("ipv4", s.ipv4,
          {.doc = "IPv4 prefixes", .fallback = "200000", .min = "1", .max = "16000000"});
  v.field("ipv6", s.ipv6,
          {.doc = "IPv6 prefixes", .fallback = "50000", .min = "1", .max = "4000000"});
}

template <class V>
void describe(V& v, EnforcementSpec& s) {
  v.field("links", s.links,
          {.doc = "links whose packets are charged to their customers; those to hosts and the "
                  "customers' own links unless given"});
  v.field("tolerance", s.tolerance,
          {.doc = "spending beyond a customer's budget that is accepted, as a share of it",
           .fallback = "0.005",
           .min = "0",
           .max = "10"});
  v.field("burst", s.burst,
          {.doc = "a customer may spend the budget of this time at once",
           .fallback = "50 ms",
           .min = "1 ms",
           .max = "1 min"});
  v.field("promise_burst", s.promise_burst,
          {.doc = "as `burst`, for announcements; at least a third of the customer's longest RTT",
           .fallback = "150 ms",
           .min = "1 ms",
           .max = "1 min"});
  v.field("charge_unpriced", s.charge_unpriced,
          {.doc = "packets without a congestion header cost their size times the price of the "
                  "next link",
           .fallback = "true"});
  v.field(
      "unpriced_burst", s.unpriced_burst,
      {.doc = "as `burst`, for such packets", .fallback = "20 ms", .min = "0 s", .max = "1 min"});
}

template <class V>
void describe(V& v, PuntSpec& s) {
  const auto rate = [&v](std::string_view key, Field<Frequency>& f, std::string_view doc,
                         std::string_view fallback) {
    v.field(key, f, {.doc = doc, .fallback = fallback, .min = "1 /s", .max = "1 /us"});
  };
  rate("neighbour", s.neighbour, "ARP and neighbour discovery", "1000 /s");
  rate("routing", s.routing, "multicast to 224.0.0.0/24 and ff02::/16, IS-IS", "2000 /s");
  rate("local", s.local, "packets to the router's own addresses", "20000 /s");
  rate("ttl", s.ttl, "packets with an expired TTL", "1000 /s");
  rate("other", s.other, "LLDP, groups that Linux has joined, limited broadcasts", "1000 /s");
}

template <class V>
void describe(V& v, LinuxControlSpec& s) {
  v.field("interfaces", s.interfaces,
          {.doc = "names of the TAP interfaces by link; the first 15 characters of the link's name "
                  "unless given"});
  v.field("punt", s.punt, {.doc = "most packets a second for Linux from one link and lcore"});
  v.field("ttl_expired", s.ttl_expired,
          {.doc = "packets with an expired TTL. answer: the router sends the ICMP error; punt: "
                  "Linux does",
           .fallback = kTtlExpired[0],
           .words = kTtlExpired});
  v.field("addresses", s.addresses,
          {.doc = "addresses of the interfaces at the start. file: those of this file; kernel: "
                  "none, Linux gets them from elsewhere",
           .fallback = kAddressSources[0],
           .words = kAddressSources});
  v.field("namespace", s.network_namespace,
          {.doc = "network namespace of the interfaces, one of `ip netns`; the router's unless "
                  "given"});
}

template <class V>
void describe(V& v, ControlSpec& s) {
  v.field("linux", s.linux_control,
          {.doc = "each link has a TAP interface, and Linux owns addresses and neighbours",
           .bare = true});
}

template <class V>
void describe(V& v, RssSpec& s) {
  v.field("rebalance", s.rebalance,
          {.doc = "on: with several lcores, flows move from busy lcores to others where the NIC's "
                  "driver allows it; none is reordered",
           .fallback = kSwitch[0],
           .words = kSwitch});
}

template <class V>
void describe(V& v, RouterSpec& s) {
  v.field("lcores", s.lcores,
          {.doc = "CPUs to run on; one per router in the order of the file unless given",
           .min = "0",
           .max = "1023"});
  v.field("routes", s.routes,
          {.doc = "static routes; they replace computed ones to the prefixes that they cover"});
  v.field("table", s.table,
          {.doc = "file of more such routes, however many, relative to this one: on each line a "
                  "prefix, a blank, and a neighbour's address or a link's name"});
  v.field("enforce", s.enforce,
          {.doc = "an edge of the network, which drops the packets of customers beyond their "
                  "budgets; {}: with default settings"});
  v.field("fib", s.fib,
          {.doc = "tables that a control plane changes while the router forwards, with room for as "
                  "many prefixes; {}: with default settings, as for `control: linux`. "
                  "`source_check: feasible` knows no "
                  "more than the routes of these tables"});
  v.field("control", s.control,
          {.doc = "who answers ARP, neighbour discovery and packets to the router itself; the "
                  "router unless given. No effect in the lab"});
  v.field("rss", s.rss, {.doc = "how packets are spread over the lcores"});
  v.field("prefix", s.prefix,
          {.doc = "one IPv4 and one IPv6 prefix: its links that have no addresses take theirs from "
                  "them, and other routers have one route to each instead of one to each link; "
                  "all links with addresses in them end here"});
  v.field("nic_filters", s.nic_filters,
          {.doc = "on: NICs whose drivers can drop and count packets by their source drop those "
                  "from martian ones (0.0.0.0/8, 127.0.0.0/8, multicast and the like), which the "
                  "router drops otherwise",
           .fallback = kNicFilters[0],
           .words = kNicFilters});
}

}  // namespace turnpike::config
