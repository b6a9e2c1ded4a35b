// SPDX-License-Identifier: BSD-3-Clause
#include "sender/open_loop/stream_receiver.h"

#include <algorithm>

#include "common/config/path.h"

namespace turnpike::sender {
namespace {

constexpr Nanos kGrace = 100_ms;     // added to the longest delay of a path
constexpr Nanos kMaxLatency = 60_s;  // a greater one means another clock

Nanos longest_way(const config::Topology& t, const config::Stream& s) {
  double seconds = 0;
  for (const config::Hop& hop : config::path_between(t, s.from, s.to, s.ip_version)) {
    const config::Direction& d = t.links[hop.link].directions[hop.direction];
    seconds += to_seconds(d.delay + d.jitter);
    if (d.rate.count() > 0)
      seconds += static_cast<double>(d.buffer.count()) / bytes_per_second(d.rate);
  }
  return from_seconds(seconds);
}

}  // namespace

void Counted::note(const Probe& probe, uint32_t datagram, Nanos now) {
  using Arrival = SequenceCheck::Arrival;
  switch (check_.note(probe.sequence)) {
    case Arrival::kReordered:
      arrivals_.reordered.add();
      break;
    case Arrival::kInOrder:
      break;
    case Arrival::kDuplicate:
      return arrivals_.duplicates.add();
    case Arrival::kTooOld:
      return arrivals_.too_old.add();
    case Arrival::kAbsurd:
      return arrivals_.strange.add();
  }
  arrivals_.packets.add();
  arrivals_.bytes.add(datagram + config::kFrameBeyondDatagram);
  // Check the unsigned difference: adding to a packet's time stamp might overflow.
  const auto latency =
      static_cast<uint64_t>(now.count()) - static_cast<uint64_t>(probe.sent.count());
  if (latency > static_cast<uint64_t>(kMaxLatency.count())) return arrivals_.untimed.add();
  arrivals_.latency.record(latency);
}

StreamReceiver::StreamReceiver(const config::Topology& t, uint32_t host)
    : streams_(t.streams.size()) {
  for (size_t i = 0; i < t.streams.size(); ++i) {
    if (t.streams[i].to != host) continue;
    streams_[i] = std::make_unique<Counted>();
    timeout_ = std::max(timeout_, longest_way(t, t.streams[i]) + kGrace);
  }
}

bool StreamReceiver::receive(std::span<const uint8_t> payload, uint32_t datagram, Nanos now) {
  Probe probe;
  if (payload.size() < Probe::kSize || !load(payload.data(), probe)) return false;
  if (probe.stream >= streams_.size() || !streams_[probe.stream]) return false;
  last_packet_ = now;
  streams_[probe.stream]->note(probe, datagram, now);
  return true;
}

}  // namespace turnpike::sender
