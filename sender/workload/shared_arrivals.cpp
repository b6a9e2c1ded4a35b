// SPDX-License-Identifier: BSD-3-Clause
#include "sender/workload/shared_arrivals.h"

#include <algorithm>

namespace turnpike::sender {

tl::expected<SharedArrivals, std::string> SharedArrivals::make(const config::Topology& topology,
                                                               uint64_t seed,
                                                               const std::vector<uint32_t>& hosts,
                                                               const Traces& traces) {
  SharedArrivals made;
  made.position_.assign(topology.hosts.size(), kNone);
  for (uint32_t i = 0; i < hosts.size(); ++i) made.position_[hosts[i]] = i;
  for (uint32_t w = 0; w < topology.workloads.size(); ++w) {
    Source& source = made.sources_.emplace_back();
    const auto asks = [&](size_t h) { return made.position_[h] != kNone; };
    if (std::ranges::none_of(topology.workloads[w].from, asks)) continue;
    auto stream = Stream::make(topology.workloads[w], seed, w, traces.of(w));
    if (!stream) return tl::unexpected(stream.error());
    source.stream = std::move(*stream);
    source.lists.resize(hosts.size());
    for (const size_t h : topology.workloads[w].from)
      if (asks(h)) source.lists[made.position_[h]].has_flows = true;
  }
  return made;
}

std::optional<Arrival> SharedArrivals::next(size_t workload, uint32_t host) {
  Source& source = sources_[workload];
  if (!source.stream) return std::nullopt;
  List& own = source.lists[position_[host]];
  if (own.first != kNone) return take(own);
  if (!own.has_flows) return std::nullopt;
  while (const auto drawn = source.stream->next()) {
    if (drawn->from == host) return drawn;
    const uint32_t position = position_[drawn->from];
    if (position != kNone) put(source.lists[position], *drawn);
  }
  return std::nullopt;
}

void SharedArrivals::put(List& list, const Arrival& arrival) {
  uint32_t at = free_;
  if (at == kNone) {
    at = static_cast<uint32_t>(waiting_.size());
    waiting_.emplace_back();
  } else {
    free_ = waiting_[at].next;
  }
  waiting_[at] = {arrival, kNone};
  (list.first == kNone ? list.first : waiting_[list.last].next) = at;
  list.last = at;
}

Arrival SharedArrivals::take(List& list) {
  const uint32_t at = list.first;
  list.first = waiting_[at].next;
  waiting_[at].next = free_;
  free_ = at;
  return waiting_[at].arrival;
}

}  // namespace turnpike::sender
