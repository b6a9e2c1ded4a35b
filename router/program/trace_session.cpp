// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/trace_session.h"

#include <algorithm>
#include <utility>

#include "router/program/probe_request.h"

namespace turnpike::router {
namespace {

constexpr Nanos kDepartures = 2_s;        // how long a trace waits for a departure
constexpr uint64_t kMaxPackets = 10'000;  // of a trace

}  // namespace

tl::expected<std::unique_ptr<ProbeSession>, Failure> TraceSession::make(
    const std::shared_ptr<Call>& call, const ProbedRouter& on) {
  const Json& request = call->request();
  const auto link = link_of(request, on);
  const auto packets = number_of(request, "packets", 10, 1, kMaxPackets);
  auto filter = filter_of(request);
  if (!link) return tl::unexpected(link.error());
  if (!packets) return tl::unexpected(packets.error());
  if (!filter) return tl::unexpected(filter.error());
  const auto mark = TraceMark::make();
  if (!mark) return tl::unexpected(Failure{"no_mark", "DPDK has no free flag in packet buffers"});
  std::unique_ptr<TraceSession> s(new TraceSession(call, on));
  s->filter_ = std::move(*filter);
  s->wanted_ = static_cast<uint32_t>(*packets);
  for (unsigned w = 0; w < on.engine.router().workers(); ++w)
    s->traces_.push_back(std::make_unique<Trace>(
        Trace::Options{.worker = w,
                       .packets = s->wanted_,
                       .link = *link,
                       .filter = s->filter_.size() > 0 ? &s->filter_ : nullptr,
                       .mark = *mark}));
  return s;
}

bool TraceSession::show(const Traced& traced) {
  call->part({{"packet", trace_json(traced, on_.topology, on_.node, on_.unix_offset)}});
  said = on_.clock.now();
  if (++sent_ < wanted_) return false;
  uint64_t lost = 0;
  for (const auto& t : traces_) lost += t->lost();
  call->result({{"packets", sent_}, {"lost", lost}});
  return true;
}

void TraceSession::drain(Nanos now) {
  if (!call->open() || call->backlog() > kMaxUnread) return;
  TraceRecord r;
  for (const auto& t : traces_) {
    while (t->take(r)) {
      if (r.departure) {
        const auto at = waiting_.find(r.id);
        if (at == waiting_.end()) {
          early_[r.id] = r;  // from another worker's ring, or before it was published
          continue;
        }
        at->second.departure = r;
        at->second.departed = true;
      } else {
        Traced& traced = waiting_[r.id];
        traced.packet = r;
        if (const auto at = early_.find(r.id); at != early_.end()) {
          traced.departure = at->second;
          traced.departed = true;
          early_.erase(at);
        }
      }
    }
  }
  // In the order of their arrival, as far as they are complete.
  std::vector<std::pair<Nanos, uint32_t>> ready;
  for (const auto& [id, traced] : waiting_)
    if (traced.departed || traced.packet.outcome != Outcome::kQueued ||
        now - traced.packet.time > kDepartures)
      ready.emplace_back(traced.packet.time, id);
  std::ranges::sort(ready);
  for (const auto& [time, id] : ready) {
    const auto at = waiting_.find(id);
    const bool last = show(at->second);
    waiting_.erase(at);
    if (last) return;
  }
  if (now - said < kHeartbeat) return;
  said = now;
  call->part({{"packets", sent_}});
}

}  // namespace turnpike::router
