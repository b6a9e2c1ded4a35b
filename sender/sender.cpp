// SPDX-License-Identifier: BSD-3-Clause
// A poll receives packets, starts and stops flows, runs timers, and sends.
#include "sender/sender.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/protocols/packet_headers.h"
#include "common/protocols/random.h"
#include "sender/sizing.h"

namespace turnpike::sender {
namespace {

constexpr size_t kRunsPerFlow = 64;  // gaps per flow, on average over a host's flows
constexpr size_t kMinRuns = 16384, kMaxRuns = size_t{1} << 21;

/// `entry`: a config::Flow or config::Workload.
FlowClass make_kind(const Protocol& protocol, const auto& entry, const Terms& terms) {
  return {.protocol = &protocol,
          .params = entry.params.size() == 0 ? ParamValues(protocol.flow_params) : entry.params,
          .ip_version = entry.ip_version,
          .dscp = entry.dscp,
          .terms = terms,
          .packet = static_cast<uint32_t>(entry.packet.count()),
          .headers = packet_headers(protocol, entry.ip_version),
          .count_packets = entry.count_packets,
          .metered = protocol.charge != nullptr &&
                     (protocol.cheats == nullptr || entry.params.size() == 0 ||
                      !protocol.cheats(entry.params)),
          .limit = entry.limit.count() > 0 ? bytes_per_second(entry.limit) : INFINITY};
}

SecretKey secret_of(uint64_t seed) {
  SplitMix64 random(seed);
  return {random.next(), random.next()};
}

}  // namespace

tl::expected<std::unique_ptr<Sender>, std::string> Sender::make(const config::Topology& topology,
                                                                const SenderOptions& options) {
  std::vector<uint32_t> played;
  for (const PortBinding& binding : options.bindings) played.push_back(binding.host);
  const Traces own = options.traces == nullptr ? Traces(topology) : Traces();
  const Traces& traces = options.traces == nullptr ? own : *options.traces;
  const auto plays = [&](uint32_t host) { return std::ranges::find(played, host) != played.end(); };
  auto schedule = options.arrivals == nullptr || played.size() != 1
                      ? TrafficSchedule::make(topology, options.seed, plays, traces)
                      : TrafficSchedule::make(topology, played.front(), *options.arrivals);
  if (!schedule) return tl::unexpected(schedule.error());

  const SecretKey secret = options.secret.value_or(secret_of(options.seed));
  std::unique_ptr<Sender> sender(
      new Sender(topology, options, secret, played, traces, std::move(*schedule)));
  if (auto added = sender->add_kinds(topology, options); !added) {
    return tl::unexpected(added.error());
  }
  if (!played.empty()) {
    const auto [first, last] = std::ranges::minmax(played);
    sender->first_ = first;
    sender->by_index_.resize(last - first + 1);
  }
  for (const PortBinding& binding : options.bindings) {
    const uint32_t flows = sink_flows(topology, binding.host, traces);
    size_t runs = std::clamp(flows * kRunsPerFlow, kMinRuns, kMaxRuns);
    // Gaps are at most as many as packets in flight. Where memory is taken on demand, allow for
    // all.
    if (!options.populated) runs = std::max(runs, sender->lcore_.records.capacity());
    const SinkParts sink{flows, runs, options.populated, derive(secret, binding.host), secret};
    auto host = Host::make(topology, binding.host, *binding.queue, sender->lcore_, sink);
    if (!host) return tl::unexpected(host.error());
    sender->by_index_[binding.host - sender->first_] = host->get();
    sender->hosts_.push_back(std::move(*host));
  }
  return sender;
}

Sender::Sender(const config::Topology& topology, const SenderOptions& options,
               const SecretKey& secret, std::span<const uint32_t> hosts, const Traces& traces,
               TrafficSchedule schedule)
    : lcore_({.size = options.records == nullptr
                          ? size_of(topology, hosts, traces)
                          : Sizing{.flows = flows_of(topology, hosts, traces)},
              .groups = topology.flows.size() + topology.workloads.size(),
              .pool = options.pool,
              .zeroed = options.zeroed,
              .outcomes = options.outcomes,
              .tick_shift = options.tick_shift,
              .records = options.records,
              .populated = options.populated,
              .ids = FlowIdCode(derive(secret, UINT64_MAX)[0])}),
      schedule_(std::move(schedule)),
      instances_(schedule_.instances()) {}

tl::expected<void, std::string> Sender::add_kinds(const config::Topology& topology,
                                                  const SenderOptions& options) {
  const auto add = [&](const auto& entry, const Terms& terms) -> tl::expected<void, std::string> {
    const Protocol* protocol = options.find(entry.protocol);
    if (protocol == nullptr) {
      return tl::unexpected(entry.name + ": no protocol \"" + entry.protocol + "\"");
    }
    const FlowClass kind = make_kind(*protocol, entry, terms);
    const size_t room = rte_pktmbuf_data_room_size(options.pool) - RTE_PKTMBUF_HEADROOM;
    if (kind.packet <= kind.headers || kind.packet + wire::kEthernetSize > room) {
      return tl::unexpected(entry.name + ": packets of " + std::to_string(kind.packet) +
                            " B do not fit between " + std::to_string(kind.headers) +
                            " B of headers and a buffer of " + std::to_string(room) + " B");
    }
    kinds_.push_back(kind);
    return {};
  };
  for (const config::Flow& f : topology.flows) {
    const Terms terms{f.share, bytes_per_second(f.hold), f.background};
    if (auto added = add(f, terms); !added) return added;
  }
  for (const config::Workload& w : topology.workloads) {
    if (auto added = add(w, {}); !added) return added;
  }
  return {};
}

Nanos Sender::poll(Nanos now) {
  size_t done = 0;
  for (const auto& host : hosts_) done += host->receive(now);
  start_due(now);
  fetch_due(now);
  done += lcore_.wheel.advance(now, kMaxTimers, [&](Timer& timer) {
    Flow& flow = lcore_.flows.owner_of(&timer);
    host_of(flow.host)->source().on_timer(flow, now);
  });
  for (const auto& host : hosts_) {
    done += host->emit(now);
    host->flush(now);
    host->publish();
  }
  moved_ = done > 0;
  return next_deadline(now);
}

// Prefetches the flows whose timers are due, then their records: the second pass reads the flows.
void Sender::fetch_due(Nanos now) {
  lcore_.wheel.foresee(now, [&](const Timer& t) { lcore_.flows.owner_of(&t).prefetch(); });
  lcore_.wheel.foresee(now, [&](const Timer& t) {
    const Flow& flow = lcore_.flows.owner_of(&t);
    if (!flow.in_flight.empty()) lcore_.records.prefetch(flow.in_flight.tail());
    if (const Timer* next = lcore_.wheel.after(t)) lcore_.flows.owner_of(next).prefetch();
  });
}

void Sender::link_restored(Nanos now) {
  lcore_.flows.for_each([&](Flow& f) { host_of(f.host)->source().link_restored(f, now); });
}

// While the flow table is full, starts wait in the schedule, in order; stops and budget changes do
// not.
void Sender::start_due(Nanos now) {
  if (stopped_) return;
  polled_ = now;
  if (schedule_.starts_held() && !lcore_.flows.full()) schedule_.hold_starts(false);
  for (unsigned n = 0; n < kMaxEvents && schedule_.next_time() <= now; ++n) {
    const Event& event = schedule_.next();
    if (event.what == Event::What::kStart && lcore_.flows.full()) {
      schedule_.hold_starts(true);
      waited_ = true;
      continue;
    }
    if (event.what == Event::What::kStart && waited_ && event.at < now)
      host_of(event.from)->count_delayed_flow();
    apply(event, now);
    schedule_.pop();
  }
  if (!schedule_.starts_held() && schedule_.next_time() > now) waited_ = false;
}

void Sender::apply(const Event& event, Nanos now) {
  Source& source = host_of(event.from)->source();
  if (event.what == Event::What::kBudget) {
    source.set_budget(event.budget);
    return;
  }
  if (event.what == Event::What::kStop) {
    Instance& instance = instances_[event.instance];
    if (!instance.started) instance.cancelled = true;  // its start still waits
    Flow* flow = lcore_.flows.find(instance.id);
    if (flow != nullptr) source.stop(*flow, now);
    return;
  }
  const bool named = event.instance < instances_.size();
  if (named && instances_[event.instance].cancelled) {
    host_of(event.from)->count_unstarted_flow();
    return;
  }
  const Flow& flow = source.open(kinds_[event.source], event, now);
  if (named) instances_[event.instance] = {.id = flow.id, .started = true};
}

Nanos Sender::next_deadline(Nanos now) const {
  Nanos next = lcore_.wheel.next_deadline();
  if (!stopped_) next = min(next, schedule_.next_time());
  // Starts that wait continue once a flow has ended; a deadline of that flow causes the poll.
  if (!stopped_ && schedule_.starts_held() && !lcore_.flows.full()) next = now;
  for (const auto& host : hosts_) {
    next = min(next, min(host->queue().next_deadline(), host->open_loop().next_deadline()));
    if (host->waiting() > 0) next = min(next, now + kRetry);
  }
  return max(next, now);
}

void Sender::stop(Nanos now) {
  if (stopped_) return;
  stopped_ = true;
  // Starts due since the last poll did not wait for a free entry: the run ended first.
  const Nanos seen = schedule_.starts_held() ? now : polled_;
  for (schedule_.hold_starts(false); schedule_.next_time() <= seen; schedule_.pop())
    if (schedule_.next().what == Event::What::kStart)
      host_of(schedule_.next().from)->count_unstarted_flow();
  lcore_.flows.for_each([&](Flow& f) { host_of(f.host)->source().wind_down(f, now); });
  for (const auto& host : hosts_) host->open_loop().stop(now);
}

void Sender::abandon(Nanos now) {
  lcore_.flows.for_each([&](Flow& f) { host_of(f.host)->source().abandon(f, now); });
}

bool Sender::idle(Nanos now) const {
  return lcore_.flows.open_flows() == 0 && std::ranges::all_of(hosts_, [&](const auto& host) {
           return host->waiting() == 0 && host->open_loop().settled(now);
         });
}

}  // namespace turnpike::sender
