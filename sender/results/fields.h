// SPDX-License-Identifier: BSD-3-Clause
// The fields of readings in a fixed order, for code that treats all of them alike.
#pragma once

#include <concepts>
#include <type_traits>

#include "sender/results/reading.h"

namespace turnpike::sender {

/// `R` is `Reading`, const or not.
template <class R, class Reading>
concept Is = std::same_as<std::remove_const_t<R>, Reading>;

/// Calls `f` with each field of the reading.
template <Is<HostReading> R, class F>
void for_each_field(R& r, F&& f) {
  f(r.sent_packets), f(r.sent_bytes), f(r.sent_probes);
  f(r.acked_packets), f(r.acked_bytes);
  f(r.received_packets), f(r.received_bytes);
  f(r.lost_packets), f(r.retransmitted_packets), f(r.timeouts);
  f(r.offered_bytes), f(r.active_flows);
  f(r.spend), f(r.committed), f(r.price);
  f(r.rtt), f(r.queueing);
}
template <Is<GroupReading> R, class F>
void for_each_field(R& r, F&& f) {
  f(r.sent_bytes), f(r.acked_bytes), f(r.active_flows), f(r.committed);
}
template <Is<LimitsReading> R, class F>
void for_each_field(R& r, F&& f) {
  f(r.started), f(r.not_started), f(r.delayed);
  f(r.out_of_records), f(r.out_of_buffers), f(r.refused_packets);
}
template <Is<Spread> R, class F>
void for_each_field(R& r, F&& f) {
  f(r.count), f(r.mean), f(r.p50), f(r.p90), f(r.p99), f(r.p999), f(r.max);
}
template <Is<StreamReading::Sent> R, class F>
void for_each_field(R& r, F&& f) {
  f(r.offered), f(r.packets), f(r.bytes), f(r.no_buffer), f(r.no_room), f(r.active);
  for_each_field(r.lag, f);
}
template <Is<StreamReading::Received> R, class F>
void for_each_field(R& r, F&& f) {
  f(r.packets), f(r.bytes), f(r.next);
  f(r.reordered), f(r.duplicates), f(r.too_old), f(r.strange), f(r.untimed);
  for_each_field(r.latency, f);
}
template <Is<FlowOutcome> R, class F>
void for_each_field(R& r, F&& f) {
  f(r.id), f(r.host), f(r.to), f(r.source), f(r.start), f(r.end);
  f(r.bytes), f(r.packets), f(r.retransmissions), f(r.completed), f(r.ended);
}

}  // namespace turnpike::sender
