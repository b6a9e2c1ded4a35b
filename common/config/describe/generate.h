// SPDX-License-Identifier: BSD-3-Clause
// Keys of a topology file: generated networks.
#pragma once

#include "common/config/describe/about.h"
#include "common/config/describe/links.h"
#include "common/config/describe/nodes.h"

namespace turnpike::config {

template <class V>
void describe(V& v, GeneratedLinkSpec& s) {
  v.field("rate", s.rate, {.doc = "capacity", .min = "1 Kbps", .max = "10 Tbps"});
  v.field("delay", s.delay,
          {.doc = "propagation one way", .fallback = "0 s", .min = "0 s", .max = "10 min"});
  v.field("buffer", s.buffer, {.doc = "as of any link", .min = "68 B", .max = "64 GB"});
  v.field("drain", s.drain, {.doc = "as of any link", .fallback = kDrains[0], .words = kDrains});
  v.field("law", s.law, {.doc = "as of any link: that of its routers", .fallback = "none"});
  v.field("mtu", s.mtu, {.doc = "as of any link", .fallback = "1500", .min = "68", .max = "65535"});
}

template <class V>
void describe(V& v, AsLikeSpec& s) {
  v.field("file", s.file,
          {.doc = "list of links between autonomous systems (AS), in the format of CAIDA's "
                  "\"AS Relationships\", relative to this file: on each line `A|B|-1`, A is a "
                  "provider of B, or `A|B|0`, they are peers; `#` begins a comment",
           .required = true});
  v.field("hosts", s.hosts,
          {.doc = "hosts of each AS", .fallback = "1", .min = "0", .max = "1000"});
}

template <class V>
void describe(V& v, ShapeSpec& s) {
  v.field("dumbbell", s.dumbbell,
          {.doc = "hosts on each side of one link: NAME-left0 and so on at router NAME-west, "
                  "NAME-right0 and so on at NAME-east",
           .min = "1",
           .max = "2000"});
  v.field("parking_lot", s.parking_lot,
          {.doc = "links in a row, between routers NAME-r0 and so on, each of which has a host, "
                  "NAME-h0 and so on",
           .min = "1",
           .max = "2000"});
  v.field("fat_tree", s.fat_tree,
          {.doc = "ports k of each router, an even number: k pods of k/2 edge routers, with k/2 "
                  "hosts each, and k/2 aggregation routers; (k/2)^2 core routers (Al-Fares et al., "
                  "SIGCOMM 2008)",
           .min = "2",
           .max = "16"});
  v.field("as_like", s.as_like,
          {.doc = "a router for each AS of a file, NAME-as1 and so on, with hosts NAME-as1-h0 and "
                  "so on; see docs/generators.md for rates and delays"});
}

template <class V>
void describe(V& v, GenerateSpec& s) {
  v.field("shape", s.shape, {.doc = "the network's shape, and its size", .required = true});
  v.field("hosts", s.hosts, {.doc = "settings of each of its hosts"});
  v.field("links", s.links, {.doc = "its links between routers", .required = true});
  v.field("access", s.access, {.doc = "the links of its hosts; as `links` unless given"});
}

}  // namespace turnpike::config
