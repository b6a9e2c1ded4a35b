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
  for (size_t l = 0; l < ports_.size(); ++l)
    all.push_back({.link = links_[l],
                   .device = ports_[l].name(),
                   .driver = ports_[l].driver(),
                   .offloads = offloads_text(ports_[l].offloads()),
                   .up = ports_[l].link_up(),
                   .stats = ports_[l].stats(),
                   .flow_control = ports_[l].flow_control(),
                   .extended = ports_[l].extended_stats().read(),
                   .omitted = ports_[l].extended_stats().omitted()});
  return all;
}

std::vector<std::string> Engine::nic_texts() const {
  std::vector<std::string> texts = router::nic_texts(ports_, links_);
  if (filters_) std::ranges::move(filters_->texts(ports_, links_), std::back_inserter(texts));
  return texts;
}

std::vector<std::string> Engine::spread_warnings() const {
  return router::spread_warnings(ports_, links_);
}

std::vector<PortFacts> Engine::port_facts() const {
  std::vector<PortFacts> facts = facts_;
  for (size_t l = 0; l < facts.size(); ++l)
    if (const uint32_t mbps = ports_[l].link_mbps(); mbps > 0) facts[l].link_mbps = mbps;
  return facts;
}

std::vector<std::string> Engine::slot_warnings() const {
  std::vector<std::string> texts;
  for (size_t l = 0; l < facts_.size(); ++l)
    for (const std::string& warning : port_warnings(facts_[l]))
      texts.push_back("link " + links_[l] + ": " + warning);
  return texts;
}

std::vector<PortStats> Engine::port_stats() const {
  std::vector<PortStats> stats;
  for (const Port& p : ports_) stats.push_back(p.stats());
  return stats;
}

}  // namespace turnpike::router
