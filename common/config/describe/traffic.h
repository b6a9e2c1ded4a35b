// SPDX-License-Identifier: BSD-3-Clause
// Keys of a topology file: traffic of the hosts.
#pragma once

#include <array>
#include <string_view>

#include "common/config/describe/about.h"

namespace turnpike::config {

inline constexpr std::array<std::string_view, 2> kCounts{"payload", "packets"};

template <class V>
void describe(V& v, TransferSpec& s) {
  v.field("protocol", s.protocol,
          {.doc = "scheme that the senders run, with its parameters", .fallback = "fcp"});
  v.field("ip_version", s.ip_version, {.doc = "4 or 6", .fallback = "4"});
  v.field("start", s.start,
          {.doc = "first packet, in time since the run's start", .fallback = "0 s", .min = "0 s"});
  v.field("stop", s.stop, {.doc = "no new data from then on; the run's end unless given"});
  v.field("packet", s.packet,
          {.doc = "IP datagram of a full packet; 1500 B or the path's MTU unless given",
           .min = "256 B",
           .max = "65535 B"});
  v.field("counts", s.counts,
          {.doc = "unit of sizes: payload, or IP datagrams as in simulators",
           .fallback = kCounts[0],
           .words = kCounts});
  v.field("limit", s.limit,
          {.doc = "rate limit of the application, in IP datagrams", .min = "1 Kbps"});
  v.field("dscp", s.dscp, {.doc = "DSCP of its packets", .fallback = "0", .min = "0", .max = "63"});
}

template <class V>
void describe(V& v, FlowSpec& s) {
  v.field("from", s.from, {.doc = "sending host", .required = true});
  v.field("to", s.to, {.doc = "receiving host, or a tree", .required = true});
  describe(v, static_cast<TransferSpec&>(s));
  v.field("size", s.size, {.doc = "payload to deliver; endless unless given", .min = "1 B"});
  v.field("share", s.share,
          {.doc = "weight within the host's budget",
           .fallback = "1",
           .min = "0.000001",
           .max = "1000000"});
  v.field("count", s.count,
          {.doc = "number of such flows", .fallback = "1", .min = "1", .max = "1000000"});
  v.field("background", s.background,
          {.doc = "spends a ten-thousandth of the budget, so it uses only spare capacity",
           .fallback = "false"});
  v.field("hold", s.hold,
          {.doc = "rate that strategy `stability` holds for each such flow", .min = "1 Kbps"});
}

template <class V>
void describe(V& v, GapsSpec& s) {
  v.field("from", s.from, {.doc = "shortest", .min = "0 s", .max = "1000 s", .required = true});
  v.field("to", s.to, {.doc = "longest", .min = "1 ns", .max = "1000 s", .required = true});
}

template <class V>
void describe(V& v, ArrivalsSpec& s) {
  v.field(
      "poisson", s.poisson,
      {.doc = "independent arrivals, so many on average", .min = "0.001 /s", .max = "1000 /us"});
  v.field("periodic", s.periodic,
          {.doc = "evenly spaced arrivals", .min = "0.001 /s", .max = "1000 /us"});
  v.field("uniform", s.uniform,
          {.doc = "independent times between arrivals, drawn evenly between two"});
}

template <class V>
void describe(V& v, ParetoSpec& s) {
  v.field("mean", s.mean, {.doc = "mean size", .min = "1 B", .required = true});
  v.field("cap", s.cap,
          {.doc = "largest size; larger draws are clipped, and the mean is kept", .min = "1 B"});
  v.field("shape", s.shape,
          {.doc = "above 1, or there is no mean", .fallback = "1.2", .min = "1.01", .max = "100"});
}

template <class V>
void describe(V& v, SizeSpec& s) {
  v.field("fixed", s.fixed, {.doc = "one size for all flows", .min = "1 B"});
  v.field("exponential", s.exponential, {.doc = "mean size", .min = "1 B"});
  v.field("pareto", s.pareto, {.doc = "heavy-tailed"});
  v.field("trace", s.trace,
          {.doc = "CSV file of arrival times in s and sizes in B; path as seen from this file"});
}

template <class V>
void describe(V& v, WorkloadSpec& s) {
  v.field("from", s.from, {.doc = "sending host or hosts, drawn uniformly", .required = true});
  v.field("to", s.to, {.doc = "receiving host or hosts, drawn uniformly", .required = true});
  describe(v, static_cast<TransferSpec&>(s));
  v.field("arrivals", s.arrivals, {.doc = "when flows start; none with a trace"});
  v.field("size", s.size, {.doc = "payload of each flow", .required = true});
  v.field("on", s.on, {.doc = "duration of arrivals", .min = "1 us", .max = "1000 h"});
  v.field("off", s.off, {.doc = "pause between them", .min = "1 us", .max = "1000 h"});
}

template <class V>
void describe(V& v, StreamRateSpec& s) {
  v.field("packets", s.packets, {.doc = "packets a second", .min = "0.001 /s", .max = "1000 /us"});
  v.field("l1", s.l1,
          {.doc = "frames with their preambles and gaps, 20 B each",
           .min = "1 Kbps",
           .max = "10 Tbps"});
  v.field("l2", s.l2, {.doc = "frames, FCS included", .min = "1 Kbps", .max = "10 Tbps"});
  v.field("line", s.line,
          {.doc = "share of the sending host's link (0.5: 50 %), counted as the link counts: IP "
                  "datagrams and its `overhead`",
           .min = "0.000001",
           .max = "10"});
}

template <class V>
void describe(V& v, FramesSpec& s) {
  v.field("sizes", s.sizes,
          {.doc = "Ethernet frames with their FCS, sent in this order over and over",
           .min = "64 B",
           .max = "65535 B"});
  v.field("imix", s.imix, {.doc = "seven of 64 B, four of 594 B, one of 1518 B", .bare = true});
}

template <class V>
void describe(V& v, StreamSpec& s) {
  v.field("from", s.from, {.doc = "sending host", .required = true});
  v.field("to", s.to, {.doc = "receiving host", .required = true});
  v.field("ip_version", s.ip_version, {.doc = "4 or 6", .fallback = "4"});
  v.field("start", s.start,
          {.doc = "first packet, in time since the run's start", .fallback = "0 s", .min = "0 s"});
  v.field("stop", s.stop, {.doc = "no packet is due from then on; the run's end unless given"});
  v.field("rate", s.rate, {.doc = "constant, independent of losses", .required = true});
  v.field("frames", s.frames, {.doc = "their sizes; 64 B (IPv6: 84 B) unless given"});
  v.field("dscp", s.dscp, {.doc = "DSCP of its packets", .fallback = "0", .min = "0", .max = "63"});
  v.field("flows", s.flows,
          {.doc = "packets take turns among so many UDP source ports, and addresses beyond 16384",
           .fallback = "1",
           .min = "1",
           .max = "1000000"});
  v.field("slack", s.slack,
          {.doc = "largest delay of a packet, so that packets due within it leave as a burst",
           .fallback = "0 s",
           .min = "0 s",
           .max = "1 ms"});
}

template <class V>
void describe(V& v, TrafficSpec& s) {
  v.field("flows", s.flows, {.doc = "flows by name"});
  v.field("workloads", s.workloads, {.doc = "streams of finite flows by name"});
  v.field("streams", s.streams,
          {.doc = "open loop: packets at a constant rate without congestion control, by name"});
}

}  // namespace turnpike::config
