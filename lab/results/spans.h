// SPDX-License-Identifier: BSD-3-Clause
// Measures the whole run, and each span of time that the file names.
#pragma once

#include <map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/config/topology.h"
#include "common/metrics/histogram.h"
#include "lab/simulator/world.h"
#include "sender/results/reading.h"

namespace turnpike::lab {

/// Reads all counters where a span begins or ends, so that its figures count every packet instead
/// of samples.
class Spans {
 public:
  explicit Spans(const config::Topology& topology);

  /// The next moment after `now` to call mark(); kNever after the last.
  [[nodiscard]] Nanos next(Nanos now) const;
  /// Call at the beginning, at each such moment, and at every sample of prices to be averaged.
  void mark(World& world);

  /// Adds to summary.json: exact figures per link, flow groups, and "measure" by span.
  void complete(nlohmann::json& summary) const;

 private:
  struct LinkReading {
    router::LinkSnapshot counters;
    metrics::Histogram waits;  // ns
    uint64_t lost = 0;         // on the wire, by chance
  };
  struct Reading {
    std::vector<LinkReading> links;  // as egress_ orders them
    std::vector<sender::HostReading> hosts;
    std::vector<sender::GroupReading> groups;
  };
  struct Price {  // of one link in one span
    double sum = 0, last = 0;
    size_t samples = 0;
  };
  struct Egress {  // a direction that a router feeds
    size_t router, place, link, direction;
  };

  [[nodiscard]] std::vector<router::Snapshot> snapshots(World& world) const;
  [[nodiscard]] Reading read(World& world) const;
  // `at`: of the span in spans_.
  [[nodiscard]] nlohmann::json link_json(size_t i, size_t at) const;
  [[nodiscard]] nlohmann::json span_json(size_t at) const;

  const config::Topology& topology_;
  std::vector<Egress> egress_;
  std::vector<config::Span> spans_;
  std::map<Nanos, Reading> readings_;       // by edge of a span
  std::vector<std::vector<Price>> prices_;  // by span, each as egress_ orders links
};

}  // namespace turnpike::lab
