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
      recorder.delays(host->index(), spread_of(host->source().rtts()),
                      spread_of(host->source().queueing()));
}

}  // namespace turnpike::sender
