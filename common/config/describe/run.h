// SPDX-License-Identifier: BSD-3-Clause
// Keys of a topology file: settings of a run.
#pragma once

#include "common/config/describe/about.h"

namespace turnpike::config {

template <class V>
void describe(V& v, SpanSpec& s) {
  v.field("from", s.from, {.doc = "beginning", .fallback = "0 s", .min = "0 s"});
  v.field("to", s.to, {.doc = "end; the run's unless given", .min = "1 us"});
}

template <class V>
void describe(V& v, RunSpec& s) {
  v.field("name", s.name, {.doc = "scenario's name; the file's stem unless given"});
  v.field("duration", s.duration,
          {.doc = "how long the run takes", .fallback = "10 s", .min = "1 ms", .max = "1000 h"});
  v.field("seed", s.seed, {.doc = "of everything random", .fallback = "1"});
  v.field("output", s.output, {.doc = "folder for results", .fallback = "out"});
  v.field("sample", s.sample,
          {.doc = "interval of the series", .fallback = "100 ms", .min = "100 us", .max = "1 h"});
  v.field("settle", s.settle,
          {.doc = "time after each change of flows before shares are measured",
           .fallback = "500 ms",
           .min = "0 s",
           .max = "1 h"});
  v.field("tolerance", s.tolerance,
          {.doc = "how far a host's share may lie off its entitlement (0.05: 5 %)",
           .fallback = "0.05",
           .min = "0",
           .max = "1"});
  v.field("udp_port", s.udp_port,
          {.doc = "destination UDP port of Turnpike packets",
           .fallback = "4747",
           .min = "1",
           .max = "65535"});
  v.field("quantum", s.quantum,
          {.doc = "scheduling granularity on a virtual clock: events wait for the next multiple "
                  "and run as a burst; 0 s: exact",
           .fallback = "0 s",
           .min = "0 s",
           .max = "1 s"});
  v.field("measure", s.measure,
          {.doc = "named time spans with figures of their own in the summary"});
}

}  // namespace turnpike::config
