// SPDX-License-Identifier: BSD-3-Clause
// Keys of a topology file: customers, their groups, and gateways that carry their packets.
#pragma once

#include <array>
#include <string_view>

#include "common/config/describe/about.h"

namespace turnpike::config {

inline constexpr std::array<std::string_view, 2> kOutside{"drop", "forward"};

/// In the order of SilentPeer.
inline constexpr std::array<std::string_view, 2> kSilentPeers{"forward", "drop"};

/// Those of kStrategies by which flows share one budget and may all be used at once.
inline constexpr std::array<std::string_view, 4> kTunnelStrategies{
    "max-min", "equal-budget", "equal-throughput", "max-throughput"};

template <class V>
void describe(V& v, GroupSpec& s) {
  v.field("weight", s.weight,
          {.doc = "share of a link's capacity, relative to other groups that send",
           .fallback = "1",
           .min = "0.000001",
           .max = "1000000"});
}

template <class V>
void describe(V& v, CustomerSpec& s) {
  v.field("prefix", s.prefix, {.doc = "source addresses: one prefix or a list"});
  v.field("link", s.link,
          {.doc = "or the link on which all packets are this customer's, or a list; other routers "
                  "do not know its packets"});
  v.field("vlan", s.vlan,
          {.doc = "or the links by their `vlan`: one VID, a range such as 20-29, or a list"});
  v.field("budget", s.budget,
          {.doc = "budget of all its hosts together",
           .min = "0 $/s",
           .max = "1000000000 $/s",
           .required = true});
  v.field(
      "ceiling", s.ceiling,
      {.doc = "most that a gateway sends for it in all of its tunnels, with their headers; none "
              "unless given",
       .min = "1 Kbps",
       .max = "1 Tbps"});
  v.field("group", s.group, {.doc = "group that it belongs to"});
}

template <class V>
void describe(V& v, GatewayPeerSpec& s) {
  v.field("address", s.address,
          {.doc = "address of the peer; that of its first core link unless given"});
  v.field("prefix", s.prefix,
          {.doc = "destinations behind the peer: one prefix or a list; the subnets of all links "
                  "behind it unless given"});
  v.field("ip_version", s.ip_version,
          {.doc = "of the tunnel's packets, if `address` is not given", .fallback = "4"});
}

template <class V>
void describe(V& v, GatewayClassSpec& s) {
  v.field("dscp", s.dscp,
          {.doc = "DSCPs of its packets: one or a list; those of no other class unless given",
           .min = "0",
           .max = "63"});
  v.field("core_dscp", s.core_dscp,
          {.doc = "DSCP of its tunnels' packets in the core; the first of `dscp` unless given, 0 "
                  "without them",
           .min = "0",
           .max = "63"});
  v.field("share", s.share,
          {.doc = "weight of its tunnels within a customer's budget and ceiling",
           .fallback = "1",
           .min = "0.000001",
           .max = "1000000"});
  v.field(
      "background", s.background,
      {.doc = "each of its tunnels spends a ten-thousandth of the budget, so it uses only spare "
              "capacity",
       .fallback = "false"});
}

template <class V>
void describe(V& v, GatewaySecuritySpec& s) {
  v.field("key_file", s.key_file,
          {.doc = "file of the peers' keys, relative to this one: on each line a peer and a key of "
                  "64 hexadecimal digits (AES-256) or 32 (AES-128); of several keys of a peer the "
                  "first seals and all open; only its owner may read it"});
}

template <class V>
void describe(V& v, GatewaySpec& s) {
  v.field("core", s.core,
          {.doc = "links towards the peers; the router's other links face customers",
           .required = true});
  v.field("peers", s.peers, {.doc = "other gateways by name", .required = true});
  v.field("classes", s.classes,
          {.doc = "classes of customers' packets, each with tunnels of its own; one unless given"});
  v.field("strategy", s.strategy,
          {.doc = "how a customer's budget is divided among its tunnels",
           .fallback = kTunnelStrategies[0],
           .words = kTunnelStrategies});
  v.field("security", s.security,
          {.doc = "encrypts and authenticates the tunnels' packets, by AES-GCM with the keys of "
                  "`key_file`; not unless given"});
  v.field("protocol", s.protocol,
          {.doc = "scheme of the tunnels' flows, with its parameters", .fallback = "fcp"});
  v.field("mtu", s.mtu,
          {.doc = "largest packet of a tunnel, an IP datagram with all headers; the MTU of the "
                  "first core link unless given",
           .min = "576 B",
           .max = "65535 B"});
  v.field("limit", s.limit,
          {.doc = "bytes that may wait for one tunnel",
           .fallback = "1 MB",
           .min = "10 KB",
           .max = "1 GB"});
  v.field("target", s.target,
          {.doc = "CoDel's target in a tunnel's queue",
           .fallback = "20 ms",
           .min = "100 us",
           .max = "1 s"});
  v.field("interval", s.interval,
          {.doc = "CoDel's interval: about the longest round trip of the customers' flows",
           .fallback = "100 ms",
           .min = "1 ms",
           .max = "10 s"});
  v.field("idle", s.idle,
          {.doc = "a tunnel without packets for so long closes; the next packet opens it",
           .fallback = "10 s",
           .min = "100 ms",
           .max = "1 h"});
  v.field("silent_peer", s.silent_peer,
          {.doc = "packets for a peer that does not answer. forward: outside of tunnels; drop: not "
                  "at all, as always with `security`",
           .fallback = kSilentPeers[0],
           .words = kSilentPeers});
  v.field(
      "outside", s.outside,
      {.doc = "customers' packets to the core that no tunnel carries: to destinations behind no "
              "peer, or of no customer. forward: without a price",
       .fallback = kOutside[0],
       .words = kOutside});
}

}  // namespace turnpike::config
