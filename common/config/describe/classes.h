// SPDX-License-Identifier: BSD-3-Clause
// Keys of a topology file: classes of traffic on a link.
#pragma once

#include <array>
#include <string_view>

#include "common/config/describe/about.h"

namespace turnpike::config {

inline constexpr std::array<std::string_view, 2> kLegacyQueues{"droptail", "red"};

template <class V>
void describe(V& v, MatchSpec& s) {
  v.field("dscp", s.dscp, {.doc = "DSCP of the IP header", .min = "0", .max = "63"});
  v.field("protocol", s.protocol,
          {.doc = "IP protocol, such as 6 for TCP", .min = "0", .max = "255"});
  v.field("source", s.source, {.doc = "prefix of the source address, such as 10.1.0.0/16"});
  v.field("destination", s.destination, {.doc = "prefix of the destination address"});
  v.field("port", s.port, {.doc = "UDP port, source or destination", .min = "1", .max = "65535"});
  v.field("unpriced", s.unpriced,
          {.doc = "true: packets without a congestion header of the link's law; false: with one"});
}

template <class V>
void describe(V& v, StabilitySpec& s) {
  v.field("factor", s.factor,
          {.doc = "the price changes by at most this factor within two average round trips",
           .fallback = "2",
           .min = "1.01",
           .max = "1000"});
}

template <class V>
void describe(V& v, DeadlineSpec& s) {
  v.field("cap", s.cap,
          {.doc = "rate that the class's flows may be granted together",
           .min = "1 Kbps",
           .max = "10 Tbps",
           .required = true});
  v.field("price", s.price,
          {.doc = "fixed price of granted rates",
           .fallback = "1e-18 $/B",
           .min = "1e-18 $/B",
           .max = "1 $/B"});
}

template <class V>
void describe(V& v, PrioritySpec& s) {
  v.field("factor", s.factor,
          {.doc = "the class's price as a multiple of the link's price",
           .min = "1",
           .max = "1000000",
           .required = true});
}

template <class V>
void describe(V& v, LegacySpec& s) {
  v.field("share", s.share,
          {.doc = "share of the link that the class always gets if it has traffic",
           .min = "0.001",
           .max = "0.95",
           .required = true});
  v.field("discipline", s.discipline,
          {.doc = "how the class's queue is managed",
           .fallback = kLegacyQueues[1],
           .words = kLegacyQueues});
}

template <class V>
void describe(V& v, PolicySpec& s) {
  v.field("standard", s.standard, {.doc = "the link's price", .bare = true});
  v.field("stability", s.stability, {.doc = "a price that changes slowly", .bare = true});
  v.field("deadline", s.deadline, {.doc = "a fixed price while the rates asked for fit"});
  v.field("priority", s.priority, {.doc = "strict priority at a multiple of the link's price"});
  v.field("legacy", s.legacy, {.doc = "no price: a guaranteed share and queue management"});
}

template <class V>
void describe(V& v, ClassQueueSpec& s) {
  v.field("strict", s.strict,
          {.doc = "before all weighted classes; the first one first", .bare = true});
  v.field("weight", s.weight,
          {.doc = "share of the link relative to other weighted classes with packets waiting",
           .min = "0.000001",
           .max = "1000000"});
}

template <class V>
void describe(V& v, LeafClassSpec& s) {
  v.field("match", s.match,
          {.doc = "conditions, of which all must hold; the first class that matches takes the "
                  "packet, and the last class, which has none, all others"});
  v.field("policy", s.policy, {.doc = "how its packets are priced", .fallback = "standard"});
  v.field("queue", s.queue,
          {.doc = "strict for priority and by bandwidth for all others unless given"});
  v.field("buffer", s.buffer,
          {.doc = "limit of the class's queue; the link's buffer unless given", .min = "68 B"});
}

template <class V>
void describe(V& v, ClassSpec& s) {
  describe(v, static_cast<LeafClassSpec&>(s));
  v.field("classes", s.classes,
          {.doc = "classes of which this one consists, with a price of their own; the link's "
                  "capacity is then shared by the `queue` of the outer classes, of equal weight "
                  "unless given"});
}

}  // namespace turnpike::config
