// SPDX-License-Identifier: BSD-3-Clause
// Reads figures and facts of a running router's lcores and ports.
#include <algorithm>
#include <iterator>

#include <rte_lcore.h>

#include "common/dpdk/eal.h"
#include "router/program/engine.h"
#include "router/program/nic_filters.h"
#include "router/program/nic_texts.h"

namespace turnpike::router {
namespace {

/// The first CPU that an lcore may run on.
unsigned cpu_of(unsigned lcore) {
  const rte_cpuset_t cpus = rte_lcore_cpuset(lcore);
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) return cpu;
  return 0;
}

}  // namespace

std::vector<LcoreFigures> Engine::lcores() const {
  std::vector<LcoreFigures> all;
  for (unsigned w = 0; w < lcores_.size(); ++w) {
    const LcoreCounters& c = lcores_[w];
    LcoreFigures& f = all.emplace_back();
    f.lcore = cpu_of(Eal::worker_lcore(w));
    f.busy = Nanos(static_cast<int64_t>(c.busy_nanos.read()));
    f.idle = Nanos(static_cast<int64_t>(c.idle_nanos.read()));
    f.busy_polls = c.busy_polls.read();
    f.idle_polls = c.idle_polls.read();
    f.stalls = stalls_[w].count();
    f.stalled = stalls_[w].total();
    for (size_t s = 0; s < kStages; ++s) f.stage_cycles[s] = c.stages.ticks[s].read();
    f.timed_packets = c.stages.packets.read();
    f.timed_polls = c.stages.polls.read();
  }
  return all;
}

std::vector<PortFigures> Engine::ports() const {
  std::vector<PortFigures> all;
  for (size_t l = 0; l < links_.size(); ++l)
    all.push_back({.link = links_[l],
                   .device = port(l).name(),
                   .driver = port(l).driver(),
                   .offloads = offloads_text(port(l).offloads()),
                   .up = port(l).link_up(),
                   .stats = stats(l),
                   .flow_control = port(l).flow_control(),
                   .extended = port(l).extended_stats().read(),
                   .omitted = port(l).extended_stats().omitted()});
  return all;
}

std::vector<std::string> Engine::nic_texts() const {
  std::vector<std::string> texts = router::nic_texts(ports_, port_links_);
  if (filters_) std::ranges::move(filters_->texts(ports_, port_links_), std::back_inserter(texts));
  return texts;
}

std::vector<std::string> Engine::spread_warnings() const {
  return router::spread_warnings(ports_, port_links_);
}

std::vector<PortFacts> Engine::port_facts() const {
  std::vector<PortFacts> facts;
  for (size_t l = 0; l < links_.size() && !facts_.empty(); ++l) {
    facts.push_back(facts_[port_of_[l]]);
    if (const uint32_t mbps = port(l).link_mbps(); mbps > 0) facts.back().link_mbps = mbps;
  }
  return facts;
}

std::vector<std::string> Engine::slot_warnings() const {
  std::vector<std::string> texts;
  for (size_t p = 0; p < facts_.size(); ++p)
    for (const std::string& warning : port_warnings(facts_[p]))
      texts.push_back("link " + port_links_[p] + ": " + warning);
  return texts;
}

std::vector<PortStats> Engine::port_stats() const {
  std::vector<PortStats> stats;
  for (size_t l = 0; l < links_.size(); ++l) stats.push_back(this->stats(l));
  return stats;
}

PortStats Engine::stats(size_t link) const {
  PortStats s = port(link).stats();
  s.tx_errors += link_queues_->without_room(port_of_[link]);
  return s;
}

}  // namespace turnpike::router
