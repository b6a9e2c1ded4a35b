// SPDX-License-Identifier: BSD-3-Clause
// From counters at moments to figures over intervals, per link.
#pragma once

#include <string>
#include <vector>

#include "common/report/live_view.h"
#include "router/snapshot.h"

namespace turnpike::router {

/// One link over one sampling interval.
struct LinkSample {
  std::string name;
  double price = 0;           // $/B; 0 where the law has none
  uint64_t queue_bytes = 0;   // B, at the end
  double queue_delay_ms = 0;  // what they take to leave at the link's rate
  double utilization = 0;     // of the capacity, 0 to 1
  double input = 0;           // what was to go out, of the capacity
  double tx_mbps = 0;         // as the capacity counts bytes
  uint64_t drops = 0;         // packets so far that were on their way out of it
  std::vector<Gauge> gauges;  // the law's, but for the price
};

struct Sample {
  double t = 0;       // s since the router started
  double unix_s = 0;  // the same instant as the world counts it, to lay several series side by side
  std::vector<LinkSample> links;
  double stalled_ms = 0;  // time that workers were kept from running so far
};

/// One line: {"t":..,"node":..,"stalled_ms":..,"links":{NAME:{"price":..,..,GAUGE:..}}}.
std::string json_text(const Sample& sample, const std::string& node);
/// What a person sees of it.
report::LiveView view_of(const Sample& sample, const std::string& node);

class Sampler {
 public:
  /// `unix_s`: UNIX time when the router's clock stood at zero.
  explicit Sampler(double unix_s) : unix_s_(unix_s) {}

  /// What happened since the last call.
  Sample take(const Snapshot& now, Nanos at);

 private:
  double unix_s_;
  Nanos last_{0};
  std::vector<uint64_t> sent_, offered_;  // bytes by link at the last call
};

}  // namespace turnpike::router
