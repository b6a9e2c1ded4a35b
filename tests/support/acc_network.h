// SPDX-License-Identifier: BSD-3-Clause
// A few links and flows on a virtual clock, for tests of the laws alone: no router, no transport.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "common/protocols/acc/flow.h"
#include "common/protocols/acc/link.h"
#include "common/protocols/acc/receiver.h"
#include "tests/support/flow_under_test.h"

namespace turnpike::acc::testing {

template <class Param>
ParamValues with(std::span<const ParamSpec> specs,
                 std::initializer_list<std::pair<Param, double>> changes) {
  ParamValues values(specs);
  for (const auto& [param, value] : changes) values[param] = value;
  return values;
}
using FlowChanges = std::initializer_list<std::pair<FlowParam, double>>;

/// First in, first out links without loss, which probes pass without queueing; endless flows of
/// packets of 1000 B, paced and limited by their windows; one ACK per packet, which takes no
/// capacity.
class ToyNetwork {
 public:
  static constexpr uint32_t kPacket = 1000, kProbe = 60;

  size_t add_link(BitRate capacity, Nanos delay, Queue queue) {
    const auto params = with<LinkParam>(kLinkParams, {{kQueue, double(queue)}});
    LinkEnd& link = links_.emplace_back();
    link.law = std::make_unique<Link>(params, 1);
    link.capacity = bytes_per_second(capacity);
    link.delay = delay;
    update(links_.size() - 1);
    return links_.size() - 1;
  }

  /// A flow over `path`; its ACKs come back after `back`.
  size_t add_flow(std::vector<size_t> path, Nanos back, FlowChanges params = {}) {
    flows_.push_back({FlowUnderTest<Flow>(with(kFlowParams, params)), std::move(path), back});
    FlowEnd& f = flows_.back();
    f.rtt = back;
    for (const size_t l : f.path) f.rtt += links_[l].delay;
    at(now_ + f.rtt, [this, i = flows_.size() - 1] {
      flows_[i].law.on_syn_ack(state(flows_[i]), {}, nullptr);
      flows_[i].due = now_;
      send(i);
    });
    return flows_.size() - 1;
  }

  void run_until(Nanos end) {
    while (!events_.empty() && events_.top().when <= end) {
      Event e = events_.top();
      events_.pop();
      now_ = e.when;
      e.action();
    }
    now_ = end;
  }

  /// Resets the measurements.
  void measure() {
    from_ = now_;
    for (FlowEnd& f : flows_) f.delivered = 0;
    for (LinkEnd& l : links_) l.carried = l.waited = l.arrivals = 0;
  }
  /// Mbit/s that flow i has delivered since measure().
  double rate(size_t i) const { return flows_[i].delivered * 8e-6 / to_seconds(now_ - from_); }
  /// Mean utilisation of the link; below, mean queue that packets find, B.
  double utilisation(size_t link) const {
    return links_[link].carried / (links_[link].capacity * to_seconds(now_ - from_));
  }
  double mean_queue(size_t link) const { return links_[link].waited / links_[link].arrivals; }

 private:
  struct LinkEnd {
    std::unique_ptr<Link> law;
    double capacity = 0;
    Nanos delay{0};
    Nanos free_at{0};
    double carried = 0, waited = 0, arrivals = 0;
  };
  struct FlowEnd {
    FlowUnderTest<Flow> law;
    std::vector<size_t> path;
    Nanos back;
    Receiver receiver = {};
    Nanos rtt{0};
    double in_flight = 0, delivered = 0;
    Nanos due{0};
    bool armed = false;
  };
  struct Packet {
    size_t flow;
    bool probe;
    Nanos sent;
    std::array<uint8_t, kHeaderSize> header{};
    PacketNote note{};
  };
  struct Event {
    Nanos when;
    uint64_t order;
    std::function<void()> action;
    bool operator<(const Event& o) const {
      return when != o.when ? when > o.when : order > o.order;
    }
  };

  void at(Nanos when, std::function<void()> action) {
    events_.push({when, ++order_, std::move(action)});
  }
  double queue(const LinkEnd& l) const {
    return std::max(0.0, to_seconds(l.free_at - now_) * l.capacity);
  }
  void update(size_t link) {
    LinkEnd& l = links_[link];
    const Nanos next = l.law->update({l.capacity, queue(l), 1e9}, now_);
    if (next != kNever) at(next, [this, link] { update(link); });
  }
  FlowState state(const FlowEnd& f) const {
    return {.now = now_,
            .rtt = f.rtt,
            .smoothed_rtt = f.rtt,
            .packet_size = kPacket,
            .in_flight = f.in_flight};
  }

  void send(size_t i) {
    FlowEnd& f = flows_[i];
    f.armed = false;
    while (f.due <= now_ && (f.in_flight == 0 || f.in_flight + kPacket <= f.law.window())) {
      if (f.law.allowance.probe) {
        Packet probe{.flow = i, .probe = true, .sent = now_};
        f.law.write_probe(state(f), kProbe, probe.header.data());
        hop(probe, 0);
      }
      Packet p{.flow = i, .probe = false, .sent = now_};
      f.law.write_data(state(f), kPacket, p.header.data(), p.note);
      f.in_flight += kPacket;
      hop(p, 0);
      f.due = now_ + from_seconds(kPacket / f.law.allowance.rate);
    }
    if (f.due <= now_) return;  // an ACK will open the window
    f.armed = true;
    at(f.due, [this, i] { send(i); });
  }

  void hop(Packet p, size_t index) {
    FlowEnd& f = flows_[p.flow];
    if (index == f.path.size()) return arrived(p);
    LinkEnd& l = links_[f.path[index]];
    const uint32_t size = p.probe ? kProbe : kPacket;
    std::array<LinkPacket, 1> burst{{{p.header.data(), size}}};
    const double waiting = queue(l);
    l.law->arrive(0, burst, {l.capacity, waiting, 1e9}, now_);
    l.carried += size;
    Nanos out = now_;
    if (l.law->classify(burst[0]) == 1) {
      l.waited += waiting;
      ++l.arrivals;
      out = l.free_at = std::max(l.free_at, now_) + from_seconds(size / l.capacity);
    }
    at(out + l.delay, [this, p, index] { hop(p, index + 1); });
  }

  void arrived(Packet p) {
    FlowEnd& f = flows_[p.flow];
    if (p.probe) return f.receiver.on_probe(p.header.data(), now_);
    f.receiver.on_data(kPacket, p.header.data(), now_);
    f.delivered += kPacket;
    at(now_ + f.back, [this, p] {
      FlowEnd& flow = flows_[p.flow];
      flow.rtt = now_ - p.sent;
      flow.law.on_ack(state(flow), p.note, p.header.data());
      flow.in_flight -= kPacket;
      if (flow.armed) return;
      flow.due = std::max(flow.due, now_);
      send(p.flow);
    });
  }

  std::vector<LinkEnd> links_;
  std::deque<FlowEnd> flows_;
  std::priority_queue<Event> events_;
  uint64_t order_ = 0;
  Nanos now_{0}, from_{0};
};

}  // namespace turnpike::acc::testing
