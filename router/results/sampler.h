// SPDX-License-Identifier: BSD-3-Clause
// From counters to rates per sampling interval, per link.
#pragma once

#include <string>
#include <vector>

#include "common/report/live_view.h"
#include "router/snapshot.h"

namespace turnpike::router {

/// One link over one sampling interval.
struct LinkSample {
  std::string name;
  double price = 0;           // $/B; 0 if the law has none
  uint64_t queue_bytes = 0;   // B, at the interval's end
  double queue_delay_ms = 0;  // time to drain them at the link's rate
  double utilization = 0;     // of the capacity, 0 to 1
  double input = 0;           // bytes for this link, dropped or not, as a share of the capacity
  double tx_mbps = 0;         // as the capacity counts bytes
  uint64_t drops = 0;         // packets so far that were routed to this link
  std::vector<Gauge> gauges;  // the law's, without the price
};

struct Sample {
  double t = 0;       // s since the router started
  double unix_s = 0;  // UNIX time of `t`, to align several series
  std::vector<LinkSample> links;
  double stalled_ms = 0;  // total time of workers' stalls so far
};

/// One line: {"t":..,"node":..,"stalled_ms":..,"links":{NAME:{"price":..,..,GAUGE:..}}}.
std::string json_text(const Sample& sample, const std::string& node);
/// The sample as a live view for people.
report::LiveView view_of(const Sample& sample, const std::string& node);

class Sampler {
 public:
  /// `unix_s`: UNIX time at which the router's clock was 0.
  explicit Sampler(double unix_s) : unix_s_(unix_s) {}

  /// Rates since the last call.
  Sample take(const Snapshot& now, Nanos at);

 private:
  double unix_s_;
  Nanos last_{0};
  std::vector<uint64_t> sent_, offered_;  // bytes by link at the last call
};

}  // namespace turnpike::router
