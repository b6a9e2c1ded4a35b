// SPDX-License-Identifier: BSD-3-Clause
// Keys of a topology file: links, and trees over them.
#pragma once

#include <array>
#include <string_view>

#include "common/config/describe/about.h"

namespace turnpike::config {

inline constexpr std::array<std::string_view, 2> kDrains{"shaped", "line-rate"};
/// In the order of SourceCheck.
inline constexpr std::array<std::string_view, 4> kSourceChecks{"off", "loose", "feasible",
                                                               "strict"};

template <class V>
void describe(V& v, DirectionSpec& s) {
  v.field("rate", s.rate, {.doc = "capacity", .min = "1 Kbps", .max = "10 Tbps"});
  v.field("delay", s.delay,
          {.doc = "propagation one way", .fallback = "0 s", .min = "0 s", .max = "10 min"});
  v.field("buffer", s.buffer,
          {.doc = "buffer size: bytes, or a multiple of rate x the longest round trip of any flow "
                  "over the link (2 x delay without flows); 1 BDP within 64 KB and 16 MB "
                  "unless given",
           .min = "68 B",
           .max = "64 GB"});
  v.field("overhead", s.overhead,
          {.doc = "bytes per packet beyond the IP datagram that count on the link; 0 B for shaped "
                  "and 38 B (Ethernet, FCS, preamble, gap) for line-rate unless given",
           .min = "0 B",
           .max = "1000 B"});
  v.field("loss", s.loss,
          {.doc = "share of packets that the link loses at random, on a virtual clock",
           .fallback = "0",
           .min = "0",
           .max = "1"});
  v.field(
      "reorder", s.reorder,
      {.doc = "share of packets that the link delivers a quarter of `delay` late, out of order; "
              "on a virtual clock",
       .fallback = "0",
       .min = "0",
       .max = "1"});
  v.field("jitter", s.jitter,
          {.doc = "uniform random delay beyond `delay`, order kept; on a virtual clock",
           .fallback = "0 s",
           .min = "0 s",
           .max = "1 min"});
  v.field("drain", s.drain,
          {.doc = "shaped: paced at `rate` from a software queue; line-rate: as fast as the port",
           .fallback = kDrains[0],
           .words = kDrains});
  v.field(
      "law", s.law,
      {.doc =
           "the scheme that routers run at this link, with its parameters; hosts, where forward or "
           "reverse has one",
       .fallback = "none"});
  v.field("source_check", s.source_check,
          {.doc = "whether the router at the receiving end accepts a source address (RFC 3704, RFC "
                  "8704). strict: if its route begins with this link; feasible: if some path to "
                  "it does; loose: if it has a route",
           .fallback = kSourceChecks[0],
           .words = kSourceChecks});
  v.field("classes", s.classes,
          {.doc = "classes of traffic by name, for a shaped link from a router with law fcp"});
}

template <class V>
void describe(V& v, LinkSpec& s) {
  v.field("ends", s.ends,
          {.doc = "the two nodes; forward is from the first", .count = 2, .required = true});
  describe(v, static_cast<DirectionSpec&>(s));
  v.field("forward", s.forward, {.doc = "settings from the first end to the second"});
  v.field("reverse", s.reverse, {.doc = "settings from the second end to the first"});
  v.field("mtu", s.mtu,
          {.doc = "largest IP datagram in bytes; 1280 at least where IPv6 is used",
           .fallback = "1500",
           .min = "68",
           .max = "65535"});
  v.field("vlan", s.vlan,
          {.doc = "VID of 802.1Q: routers' ports send the link's frames with this tag and receive "
                  "those with it; several links, and one without a tag, may share a port. No "
                  "effect in the lab",
           .min = "1",
           .max = "4094"});
  v.field("emulate_delay", s.emulate_delay,
          {.doc = "emulate `delay` in software; true unless an end is a real device"});
  v.field("attach", s.attach,
          {.doc = "ports of the ends: `memif` or `ring` for both, or a map from end to port"});
  v.field("addresses", s.addresses, {.doc = "addresses by end, as those of a host"});
  v.field("macs", s.macs, {.doc = "Ethernet addresses by end"});
}

template <class V>
void describe(V& v, TreeSpec& s) {
  v.field("group", s.group,
          {.doc = "one IPv4 and one IPv6 multicast address; assigned unless given"});
  v.field("root", s.root, {.doc = "host that sends", .required = true});
  v.field("receivers", s.receivers, {.doc = "hosts that receive", .required = true});
}

}  // namespace turnpike::config
