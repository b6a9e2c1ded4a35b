// SPDX-License-Identifier: BSD-3-Clause
#include "lab/memory.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/config/path.h"
#include "common/report/number.h"
#include "common/units/text.h"
#include "lab/simulator/world.h"
#include "sender/results/link_name.h"
#include "sender/results/outcome_log.h"
#include "sender/results/reading.h"

namespace turnpike::lab {
namespace {

// Measured constants, where adding up sizes would be inaccurate.
constexpr size_t kProgram = size_t{28} << 20;      // code, EAL and the results' text
constexpr size_t kLaw = size_t{48} << 10;          // of a link with a law, per lcore
constexpr size_t kHistogram = size_t{8} << 10;     // the pages of the octaves that have values
constexpr size_t kSink = 320;                      // of a flow that a host receives
constexpr size_t kHostText = 300, kGroupText = 0;  // of a sample
constexpr size_t kDescriptor = 64;                 // of a packet, beside its buffer

/// Flows that a workload starts in the whole run.
double arrivals(const config::Topology& t, size_t index, const sender::Traces& traces) {
  const config::Workload& w = t.workloads[index];
  const double seconds = to_seconds(std::max(std::min(w.stop, t.run.duration) - w.start, Nanos(0)));
  if (const auto* a = std::get_if<config::PoissonArrivals>(&w.arrivals))
    return a->per_second * seconds;
  if (const auto* a = std::get_if<config::PeriodicArrivals>(&w.arrivals))
    return a->per_second * seconds;
  const auto trace = traces.of(index);
  return trace == nullptr ? 0 : static_cast<double>(trace->size());
}

/// Flows that start at, or come to, each host in the whole run.
struct FlowsOf {
  std::vector<double> from, to;
  double all = 0;
};
FlowsOf flows_of(const config::Topology& t, const sender::Traces& traces) {
  FlowsOf n{std::vector<double>(t.hosts.size()), std::vector<double>(t.hosts.size()), 0};
  for (const config::Flow& f : t.flows) {
    n.from[f.from] += f.count;
    for (const size_t to : config::receivers_of(t, f)) n.to[to] += f.count;
    n.all += f.count;
  }
  for (size_t i = 0; i < t.workloads.size(); ++i) {
    const config::Workload& w = t.workloads[i];
    const double flows = arrivals(t, i, traces);
    for (const size_t h : w.from) n.from[h] += flows / static_cast<double>(w.from.size());
    for (const size_t h : w.to) n.to[h] += flows / static_cast<double>(w.to.size());
    n.all += flows;
  }
  return n;
}

size_t whole(double v) { return static_cast<size_t>(std::max(v, 0.0)); }

/// Hosts' tables: of flows that they send, as far as they fill, and receive.
size_t flow_tables(const config::Topology& t, const sender::Traces& traces, const FlowsOf& flows) {
  constexpr size_t kHost = (size_t{40} << 10) + 2 * kHistogram;
  size_t bytes = 0;
  for (uint32_t h = 0; h < t.hosts.size(); ++h) {
    if (t.hosts[h].external) continue;
    const size_t places = sender::flows_of(t, {&h, 1}, traces);
    const unsigned bits = TimerWheel::block_bits_for(places);
    bytes += kHost + (size_t{2} << bits) * sizeof(TimerLink);
    bytes += std::min(places, whole(flows.from[h])) * (sizeof(sender::Flow) + sizeof(uint32_t));
    bytes += std::min<size_t>(sender::sink_flows(t, h, traces), whole(flows.to[h])) * kSink;
  }
  return bytes;
}

size_t tables(const config::Topology& t) {
  constexpr size_t kLarge = size_t{72} << 20;  // touched of two FIBs
  size_t bytes = 0;
  for (const config::Router& r : t.routers)
    bytes += World::fib_kind(t, r) == router::FibKind::kTable ? kLarge : World::table_memory(t, r);
  return bytes;
}

size_t customers(const config::Topology& t) {
  size_t bytes = 0;
  for (const config::Router& r : t.routers) {
    bytes += router::CustomerTable::memory(t, r) + router::CustomerTable::large_memory(t, r) +
             router::route_table_memory(r).all();
    if (r.enforcement)
      bytes +=
          router::Enforcement::memory(t.customers.size(), static_cast<unsigned>(r.lcores.size()));
  }
  return bytes;
}

size_t links(const config::Topology& t) {
  const size_t readings = 2 * (t.run.measure.size() + 1);
  size_t bytes = 0;
  for (const config::Router& r : t.routers)
    for (const size_t l : r.links) {
      const config::Direction& d = t.links[l].directions[t.links[l].end_at(r.name)];
      const size_t law = d.law.protocol == "none" ? 0 : kLaw;
      bytes += readings * kHistogram + r.lcores.size() * (kHistogram + law);
    }
  return bytes;
}

size_t results(const config::Topology& t, const FlowsOf& flows) {
  const double samples = static_cast<double>(t.run.duration.count()) /
                         static_cast<double>(std::max<int64_t>(t.run.sample.count(), 1));
  const size_t groups = t.flows.size() + t.workloads.size();
  const size_t sample = t.hosts.size() * (sizeof(sender::HostReading) + kHostText) +
                        groups * (sizeof(sender::GroupReading) + kGroupText);
  // Of outcomes a block, its sorted copy, and what is read at a time of each block in the file.
  constexpr size_t kBlock = sender::OutcomeLog::kInMemory * sizeof(sender::FlowOutcome);
  constexpr size_t kRead = sender::OutcomeLog::Iterator::kRead * sizeof(sender::FlowOutcome);
  const size_t blocks = whole(flows.all) / sender::OutcomeLog::kInMemory;
  return whole(samples) * sample + 2 * kBlock + blocks * kRead;
}

std::string size_text(size_t bytes) {
  const auto b = static_cast<double>(bytes);
  return b >= 1e9 ? report::fixed(b * 1e-9, 1) + " GB" : report::fixed(b * 1e-6, 0) + " MB";
}

std::string remedy_of_buffers(const config::Topology& t, const sender::Sizing& size) {
  if (!size.largest) return "fewer flows, or fewer arrivals a second, take less";
  const config::Direction& d = t.links[size.largest->link].directions[size.largest->direction];
  return "most of them for link " + sender::link_name(t, *size.largest) + " (" + to_text(d.rate) +
         ", buffer " + to_text(d.buffer) +
         ") and the paths across it: a lower rate, delay or buffer there takes less, and so do "
         "larger packets and fewer flows";
}

}  // namespace

size_t MemoryNeed::total() const {
  size_t bytes = 0;
  for (const MemoryPart& part : parts) bytes += part.bytes;
  return bytes;
}

MemoryNeed memory_of(const config::Topology& t, const sender::Traces& traces) {
  const World::Buffers buffers = World::buffers(t, traces);
  const FlowsOf flows = flows_of(t, traces);
  const std::string fewer = "fewer flows, or fewer arrivals a second, take less";
  MemoryNeed need;
  need.parts = {
      {"packet buffers", buffers.packets * (buffers.bytes_each + kDescriptor),
       remedy_of_buffers(t, buffers.size)},
      {"routers' tables", tables(t) + customers(t),
       t.customers.empty() ? "fewer routers take less" : "fewer routers and customers take less"},
      {"flow tables", flow_tables(t, traces, flows), fewer},
      {"links", links(t), "fewer links or spans to measure take less"},
      {"results", results(t, flows), "a longer run.sample takes less"},
      {"the program", kProgram, "nothing in the file changes it"},
  };
  std::ranges::stable_sort(need.parts, std::greater(), &MemoryPart::bytes);
  return need;
}

std::string memory_text(const MemoryNeed& need, std::optional<size_t> available) {
  constexpr size_t kShown = 3;
  std::string text = "Memory: about " + size_text(need.total());
  if (available) text += " of " + size_text(*available) + " available";
  for (size_t i = 0; i < std::min(kShown, need.parts.size()); ++i)
    text += (i == 0 ? " (" : ", ") + need.parts[i].what + " " + size_text(need.parts[i].bytes);
  return text + ")";
}

std::string memory_refusal(const MemoryNeed& need, std::optional<size_t> available) {
  if (!available || need.total() <= *available) return "";
  const MemoryPart& largest = need.parts.front();
  return "this run takes about " + size_text(need.total()) + " of memory, and the machine has " +
         size_text(*available) + "; " + largest.what + " take " + size_text(largest.bytes) + ": " +
         largest.remedy;
}

}  // namespace turnpike::lab
