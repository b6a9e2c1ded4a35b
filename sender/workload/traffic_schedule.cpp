// SPDX-License-Identifier: BSD-3-Clause
// Merges the sorted events that the file names with the next arrival of each workload.
#include "sender/workload/traffic_schedule.h"

#include <algorithm>
#include <tuple>

namespace turnpike::sender {
namespace {

/// Sort key of events that the file names: by time, then budgets, starts, stops.
std::tuple<Nanos, Event::What> order_of(const Event& e) { return {e.at, e.what}; }

}  // namespace

tl::expected<TrafficSchedule, std::string> TrafficSchedule::make(
    const config::Topology& topology, uint64_t seed, const std::function<bool(uint32_t)>& plays,
    const Traces& traces) {
  TrafficSchedule schedule;
  for (uint32_t h = 0; h < topology.hosts.size(); ++h) {
    schedule.plays_.push_back(plays(h));
    if (schedule.plays_[h]) schedule.add_changes(topology, h);
  }
  schedule.add_flows(topology, [&](size_t host) { return schedule.plays_[host]; });
  for (uint32_t i = 0; i < topology.workloads.size(); ++i) {
    const auto& from = topology.workloads[i].from;
    if (std::ranges::none_of(from, [&](size_t h) { return schedule.plays_[h]; })) continue;
    auto stream = Stream::make(topology.workloads[i], seed, i, traces.of(i));
    if (!stream) return tl::unexpected(stream.error());
    const auto index = static_cast<uint32_t>(topology.flows.size() + i);
    schedule.workloads_.push_back({index, std::move(*stream), std::nullopt});
    schedule.advance(schedule.workloads_.back());
  }
  schedule.find_next();
  return schedule;
}

TrafficSchedule TrafficSchedule::make(const config::Topology& topology, uint32_t host,
                                      SharedArrivals& arrivals) {
  TrafficSchedule schedule;
  schedule.shared_ = &arrivals;
  schedule.host_ = host;
  schedule.flows_ = static_cast<uint32_t>(topology.flows.size());
  schedule.add_changes(topology, host);
  schedule.add_flows(topology, [&](size_t h) { return h == host; });
  for (uint32_t i = 0; i < topology.workloads.size(); ++i) {
    Source source{schedule.flows_ + i, std::nullopt, arrivals.next(i, host)};
    if (source.next) schedule.workloads_.push_back(std::move(source));
  }
  schedule.find_next();
  return schedule;
}

void TrafficSchedule::add_changes(const config::Topology& topology, uint32_t host) {
  for (const config::BudgetChange& change : topology.hosts[host].changes)
    controls_.events.push_back(
        {.at = change.at, .what = Event::What::kBudget, .from = host, .budget = change.budget});
}

// After the changes of all hosts.
void TrafficSchedule::add_flows(const config::Topology& topology, const auto& plays) {
  for (uint32_t i = 0; i < topology.flows.size(); ++i) {
    const config::Flow& f = topology.flows[i];
    if (!plays(f.from)) continue;
    for (unsigned n = 0; n < f.count; ++n) {
      Event e{.at = f.start, .source = i, .instance = instances_++, .bytes = f.size};
      e.from = static_cast<uint32_t>(f.from);
      e.to = static_cast<uint32_t>(topology.destination_of(f));
      starts_.events.push_back(e);
      if (f.stop == kNever) continue;
      e.at = f.stop;
      e.what = Event::What::kStop;
      controls_.events.push_back(e);
    }
  }
  for (Named* named : {&starts_, &controls_}) std::ranges::stable_sort(named->events, {}, order_of);
}

void TrafficSchedule::advance(Source& source) {
  if (shared_ != nullptr) {
    source.next = shared_->next(source.index - flows_, host_);
    return;
  }
  do {
    source.next = source.stream->next();
  } while (source.next && !plays_[source.next->from]);
}

void TrafficSchedule::find_next() {
  next_source_ = nullptr;
  next_named_ = nullptr;
  next_ = {.at = kNever};
  for (Named TrafficSchedule::*named : {&TrafficSchedule::controls_, &TrafficSchedule::starts_}) {
    const Event* e = (this->*named).next();
    if (e == nullptr || (held_ && named == &TrafficSchedule::starts_)) continue;
    if (next_named_ != nullptr && order_of(*e) >= order_of(next_)) continue;
    next_named_ = named;
    next_ = *e;
  }
  if (held_) return;
  for (Source& s : workloads_) {
    if (!s.next || s.next->at >= next_.at) continue;
    next_source_ = &s;
    next_named_ = nullptr;
    next_ = {.at = s.next->at, .source = s.index, .instance = instances_};
    next_.from = s.next->from;
    next_.to = s.next->to;
    next_.bytes = s.next->bytes;
  }
}

void TrafficSchedule::pop() {
  if (next_source_ != nullptr) {
    advance(*next_source_);
  } else if (next_named_ != nullptr) {
    ++(this->*next_named_).position;
  }
  find_next();
}

}  // namespace turnpike::sender
