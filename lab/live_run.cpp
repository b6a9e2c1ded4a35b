// SPDX-License-Identifier: BSD-3-Clause
#include "lab/live_run.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lab/router_folders.h"
#include "sender/results/link_name.h"

namespace turnpike::lab {
namespace {

constexpr double kSameTime = 1e-3;  // s; senders sample at about the same times

template <class Row>
Row& row_named(std::vector<Row>& rows, const std::string& name) {
  const auto at = std::ranges::find(rows, name, &Row::name);
  if (at != rows.end()) return *at;
  return rows.emplace_back(Row{.name = name});
}

/// A stream is sent by one sender and received by another: each knows its own end's figures.
void add(report::LiveStream& sum, const report::LiveStream& part) {
  sum.offered_pps = std::max(sum.offered_pps, part.offered_pps);
  sum.sent_pps = std::max(sum.sent_pps, part.sent_pps);
  sum.received_pps = std::max(sum.received_pps, part.received_pps);
  sum.unsent = std::max(sum.unsent, part.unsent);
  sum.lost = std::max(sum.lost, part.lost);
  sum.reordered = std::max(sum.reordered, part.reordered);
}

}  // namespace

bool LiveRun::apply(const std::string& line, report::LiveView& view) {
  return report::apply_live_json(line, view, [&](const std::string& node, const std::string& link) {
    return full_link_name(topology_, node, link);
  });
}

void LiveRun::keep_priced() {
  std::set<std::string> priced;
  for (size_t l = 0; l < topology_.links.size(); ++l)
    for (size_t d = 0; d < 2; ++d)
      if (topology_.links[l].directions[d].law.protocol != "none")
        priced.insert(sender::link_name(topology_, {l, d}));
  if (!priced.empty())
    std::erase_if(view_.links, [&](const report::LiveLink& l) { return !priced.contains(l.name); });
}

void LiveRun::router_line(const std::string& line) {
  if (apply(line, view_)) keep_priced();
}

void LiveRun::sender_line(const std::string& line, std::span<const std::string> hosts) {
  report::LiveView part;
  if (!apply(line, part)) return;
  const bool first = part.t > shown_ + kSameTime;
  if (first) view_.t = shown_ = part.t;
  if (first) view_.streams.clear();
  for (const report::LiveHost& h : part.hosts)
    if (std::ranges::find(hosts, h.name) != hosts.end()) row_named(view_.hosts, h.name) = h;
  for (const report::LiveStream& s : part.streams) add(row_named(view_.streams, s.name), s);
  if (first) live_.show(view_);
}

}  // namespace turnpike::lab
