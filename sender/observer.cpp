// SPDX-License-Identifier: BSD-3-Clause
#include "sender/observer.h"

#include <vector>

#include "common/metrics/histogram.h"

namespace turnpike::sender {
namespace {

Spread spread_of(const metrics::Histogram& h) {
  const auto at = [&](double q) { return Nanos(static_cast<int64_t>(h.quantile(q))); };
  return {.count = h.count(),
          .mean = Nanos(static_cast<int64_t>(h.mean())),
          .p50 = at(0.5),
          .p90 = at(0.9),
          .p99 = at(0.99),
          .p999 = at(0.999),
          .max = Nanos(static_cast<int64_t>(h.max()))};
}

StreamReading::Sent read(const Emitter& e, Nanos end) {
  const Departures& d = e.departures();
  return {.offered = e.offered(end),
          .packets = d.packets.read(),
          .bytes = d.bytes.read(),
          .no_buffer = d.no_buffer.read(),
          .no_room = d.no_room.read(),
          .active = e.active(end),
          .lag = spread_of(d.lag)};
}

StreamReading::Received read(const Counted& c) {
  const Arrivals& a = c.arrivals();
  return {.packets = a.packets.read(),
          .bytes = a.bytes.read(),
          .next = c.next(),
          .reordered = a.reordered.read(),
          .duplicates = a.duplicates.read(),
          .too_old = a.too_old.read(),
          .strange = a.strange.read(),
          .untimed = a.untimed.read(),
          .latency = spread_of(a.latency)};
}

}  // namespace

void observe(std::span<Sender* const> senders, Nanos now, const config::Topology& topology,
             Recorder& recorder) {
  std::vector<HostReading> hosts(topology.hosts.size());
  std::vector<GroupReading> groups(topology.flows.size() + topology.workloads.size());
  for (const Sender* sender : senders) {
    for (const auto& host : sender->hosts()) hosts[host->index()] = read(host->totals());
    const auto parts = sender->groups();
    for (size_t i = 0; i < parts.size(); ++i) add(groups[i], parts[i]);
  }
  recorder.sample(now, hosts, groups);
}

void observe_delays(std::span<Sender* const> senders, Recorder& recorder) {
  for (const Sender* sender : senders)
    for (const auto& host : sender->hosts())
      recorder.delays(host->index(), spread_of(host->delays().round_trips),
                      spread_of(host->delays().queueing));
}

void observe_limits(std::span<Sender* const> senders, Recorder& recorder) {
  for (const Sender* sender : senders)
    for (const auto& host : sender->hosts()) {
      const HostTotals& t = host->totals();
      recorder.limits({.started = t.opened_flows.read(),
                       .not_started = t.unstarted_flows.read(),
                       .delayed = t.delayed_flows.read(),
                       .out_of_records = t.out_of_records.read(),
                       .out_of_buffers = t.out_of_buffers.read(),
                       .refused_packets = t.refused_packets.read()});
    }
}

void observe_streams(std::span<Sender* const> senders, Nanos end, const config::Topology& topology,
                     Recorder& recorder) {
  std::vector<StreamReading> streams(topology.streams.size());
  for (const Sender* sender : senders)
    for (const auto& host : sender->hosts()) {
      const OpenLoop& loop = host->open_loop();
      for (const auto& e : loop.emitters()) streams[e->index()].sent = read(*e, end);
      for (size_t i = 0; i < streams.size(); ++i)
        if (const Counted* c = loop.meter().stream(i); c != nullptr) streams[i].received = read(*c);
    }
  for (size_t i = 0; i < streams.size(); ++i) recorder.stream(i, streams[i]);
}

}  // namespace turnpike::sender
