// SPDX-License-Identifier: BSD-3-Clause
// The present state of a run, for people: as a line, a table or JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace turnpike::report {

struct LiveHost {
  std::string name;
  double rate_mbps = 0;      // acknowledged, over the last sampling interval
  double entitled_mbps = 0;  // 0: no entitled rate
  double price = 0;          // $/B
  double rtt_ms = 0;
  uint64_t flows = 0;  // open
  uint64_t lost = 0;   // packets so far
};

struct LiveLink {
  std::string name;
  double price = 0;  // $/B
  double queue_bytes = 0;
  double queue_delay_ms = 0;
  double utilization = 0;
  double tx_mbps = 0;
  uint64_t drops = 0;  // packets so far
};

/// An open-loop stream; rates over the last sampling interval, in packets a second.
struct LiveStream {
  std::string name;
  double offered_pps = 0, sent_pps = 0, received_pps = 0;
  uint64_t unsent = 0;     // packets so far that were due but not sent
  uint64_t lost = 0;       // packets so far missing in the received sequence
  uint64_t reordered = 0;  // packets so far
};

struct LiveView {
  double t = 0;           // s
  std::string node = {};  // the router that wrote this; empty: a sender
  double stalled_ms = 0;  // time so far in which its lcores were descheduled
  std::vector<LiveHost> hosts;
  std::vector<LiveLink> links;
  std::vector<LiveStream> streams = {};
};

/// {"t":..,"hosts":{NAME:{"rate_mbps",..}}} on one line; without "links" and "streams" if there are
/// none.
std::string live_json(const LiveView& view);

/// Maps router `node`'s name of a link to the name in this view.
using LinkNames = std::function<std::string(const std::string& node, const std::string& link)>;

/// Updates the view from a line of live_json(), or of a router; the other part stays as it was. A
/// router's line has its name in "node"; its time is used only before the first line of hosts.
/// Returns false, without changes, for any other line.
bool apply_live_json(std::string_view line, LiveView& view, const LinkNames& names = {});

/// One line for logs and pipes, without its newline.
std::string live_line(const LiveView& view);

/// Several lines of at most 80 columns, ASCII.
std::string live_table(const LiveView& view);

}  // namespace turnpike::report
