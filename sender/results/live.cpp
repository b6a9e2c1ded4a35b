// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/live.h"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

namespace turnpike::sender {
namespace {

bool starts_flows(const config::Topology& topology, size_t host) {
  const auto& workloads = topology.workloads;
  return std::any_of(topology.flows.begin(), topology.flows.end(),
                     [&](const config::Flow& f) { return f.from == host; }) ||
         std::any_of(workloads.begin(), workloads.end(), [&](const config::Workload& w) {
           return std::find(w.from.begin(), w.from.end(), host) != w.from.end();
         });
}

}  // namespace

LiveStyle natural_style(std::FILE* out) {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return isatty(fileno(out)) && !dumb ? LiveStyle::kTable : LiveStyle::kLines;
}

LiveView view_of(const config::Topology& topology, const Recorder& recorder) {
  LiveView view;
  const auto rates = recorder.latest_rates();
  if (!rates) return view;
  const Sample& latest = recorder.record().samples.back();
  view.t = to_seconds(latest.now);
  for (size_t i = 0; i < topology.hosts.size(); ++i) {
    if (!starts_flows(topology, i)) continue;
    const HostReading& r = latest.hosts[i];
    view.hosts.push_back({.name = topology.hosts[i].name,
                          .rate_mbps = rates->hosts[i].count() * 1e-6,
                          .entitled_mbps = recorder.entitled(i, latest.now).count() * 1e-6,
                          .price = r.price,
                          .rtt_ms = to_seconds(r.rtt) * 1e3,
                          .flows = r.active_flows,
                          .lost = r.lost_packets});
  }
  return view;
}

void Live::show(const LiveView& view) {
  if (style_ == LiveStyle::kNone || (view.hosts.empty() && view.links.empty())) return;
  std::string text;
  if (style_ == LiveStyle::kTable) {
    const std::string table = live_table(view);
    if (lines_on_screen_ > 0) text = "\x1b[" + std::to_string(lines_on_screen_) + "A\r\x1b[J";
    lines_on_screen_ = static_cast<size_t>(std::count(table.begin(), table.end(), '\n'));
    text += table;
  } else {
    text = (style_ == LiveStyle::kJson ? live_json(view) : live_line(view)) + "\n";
  }
  std::fputs(text.c_str(), out_);
  std::fflush(out_);
}

}  // namespace turnpike::sender
