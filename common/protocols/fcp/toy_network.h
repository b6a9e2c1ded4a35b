// SPDX-License-Identifier: BSD-3-Clause
// A few links and flows on a virtual clock, for tests of the law alone: no router, no transport.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "common/protocols/fcp/flow.h"
#include "common/protocols/fcp/link.h"

namespace turnpike::fcp::testing {

/// First in, first out links without loss; senders paced by their law; one ACK a packet, which
/// takes no room. Packets are 1000 B, SYNs 40 B, as in the paper.
class ToyNetwork {
 public:
  static constexpr uint32_t kPacket = 1000, kSyn = 40;

  size_t add_link(BitRate capacity, Nanos delay) {
    links_.push_back(
        {std::make_unique<Link>(ParamValues(kLinkParams), 1), bytes_per_second(capacity), delay});
    return links_.size() - 1;
  }

  /// A flow over `path`; its ACKs come back after `back`.
  size_t add_flow(std::vector<size_t> path, Nanos back, Budget budget, Nanos start,
                  double bytes = std::numeric_limits<double>::infinity()) {
    flows_.push_back({Flow(ParamValues(kFlowParams)), std::move(path), back});
    FlowEnd& f = flows_.back();
    f.law.set_target(budget);
    f.budget = budget;
    f.unsent = bytes;
    at(start, [this, i = flows_.size() - 1] { open(i); });
    return flows_.size() - 1;
  }

  /// Flow i's application can send no faster.
  void limit(size_t i, BitRate rate) { flows_[i].limit = bytes_per_second(rate); }
  /// Flow i's application has nothing to send from now on, or has again.
  void pause(size_t i) {
    flows_[i].paused = true;
    flows_[i].idle_from = now_;
  }
  void resume(size_t i) {
    FlowEnd& f = flows_[i];
    f.paused = false;
    f.law.on_pause(state(f), now_ - f.idle_from);
    send(i);
  }

  /// Runs `action` at `when`.
  void at(Nanos when, std::function<void()> action) {
    events_.push({when, ++order_, std::move(action)});
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

  Flow& flow(size_t i) { return flows_[i].law; }
  Nanos now() const { return now_; }
  double queue(size_t link) const {
    const LinkEnd& l = links_[link];
    return std::max(0.0, to_seconds(l.free_at - now_) * l.capacity);
  }
  double price(size_t link) const {
    std::array<Gauge, 3> g;
    links_[link].law->gauges(g);
    return g[0].value;
  }
  double incoming(size_t link) const {
    std::array<Gauge, 3> g;
    links_[link].law->gauges(g);
    return g[1].value;
  }
  /// Mean rate that flow i had delivered between two calls.
  BitRate delivered_rate(size_t i) {
    FlowEnd& f = flows_[i];
    const double span = to_seconds(now_ - f.mark);
    const BitRate rate = from_bytes_per_second((f.delivered - f.marked) / span);
    f.mark = now_;
    f.marked = f.delivered;
    return rate;
  }
  double max_queue(size_t link) const { return links_[link].max_queue; }
  void forget_max_queue(size_t link) { links_[link].max_queue = 0; }

  /// Checks granted + pending <= budget at every event when set.
  std::function<void(const Flow&, Budget)> on_event;

 private:
  struct LinkEnd {
    std::unique_ptr<Link> law;
    double capacity;
    Nanos delay;
    Nanos free_at{0};
    double max_queue = 0;
  };
  struct FlowEnd {
    Flow law;
    std::vector<size_t> path;
    Nanos back;
    Budget budget{0};
    double unsent = 0;
    double limit = std::numeric_limits<double>::infinity();
    bool paused = false;
    Nanos idle_from{0};
    Nanos due{0};  // of the next packet, at `rate` B/s since the last one
    double rate = 0;
    uint64_t turn = 0;  // of the timer that counts; earlier ones are void
    Nanos rtt{0};
    double delivered = 0, marked = 0;
    Nanos mark{0};
  };
  struct Packet {
    size_t flow;
    bool syn;
    uint32_t size;
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

  FlowState state(const FlowEnd& f) const {
    return {.now = now_,
            .rtt = f.rtt,
            .smoothed_rtt = f.rtt,
            .packet_size = kPacket,
            .unsent = f.unsent,
            .limit = f.limit,
            .headroom = f.budget.count() - f.law.committed()};
  }

  void open(size_t i) {
    Packet p{.flow = i, .syn = true, .size = kSyn, .sent = now_};
    flows_[i].law.write_syn(state(flows_[i]), kSyn, p.header.data(), p.note);
    hop(p, 0);
  }

  void send(size_t i) {
    FlowEnd& f = flows_[i];
    if (f.unsent <= 0 || f.paused) return;
    Packet p{.flow = i, .syn = false, .size = kPacket, .sent = now_};
    f.law.write_data(state(f), kPacket, p.header.data(), p.note);
    f.unsent -= kPacket;
    if (on_event) on_event(f.law, f.budget);
    hop(p, 0);
    f.rate = pace(f);
    f.due = now_ + from_seconds(kPacket / f.rate);
    arm(i);
  }

  double pace(const FlowEnd& f) const {
    return std::min(bytes_per_second(f.law.rate(state(f))), f.limit);
  }
  void arm(size_t i) {
    at(flows_[i].due, [this, i, turn = ++flows_[i].turn] {
      if (turn == flows_[i].turn) send(i);
    });
  }
  /// What is left of the gap goes at the new rate, when that matters.
  void repace(size_t i) {
    FlowEnd& f = flows_[i];
    const double rate = pace(f);
    if (f.paused || f.due <= now_ || std::abs(rate - f.rate) < 0.1 * f.rate) return;
    f.due = now_ + from_seconds(to_seconds(f.due - now_) * f.rate / rate);
    f.rate = rate;
    arm(i);
  }

  void hop(Packet p, size_t index) {
    FlowEnd& f = flows_[p.flow];
    if (index == f.path.size()) {
      if (!p.syn) f.delivered += p.size;
      at(now_ + f.back, [this, p] { acknowledged(p); });
      return;
    }
    LinkEnd& l = links_[f.path[index]];
    std::array<PricedPacket, 1> burst{{{p.header.data(), p.size, p.syn, true}}};
    const double waiting = queue(f.path[index]);
    l.max_queue = std::max(l.max_queue, waiting);
    l.law->arrive(0, burst, {l.capacity, waiting, 1e9}, now_);
    l.free_at = std::max(l.free_at, now_) + from_seconds(p.size / l.capacity);
    at(l.free_at + l.delay, [this, p, index] { hop(p, index + 1); });
  }

  void acknowledged(const Packet& p) {
    FlowEnd& f = flows_[p.flow];
    f.rtt = now_ - p.sent;
    if (p.syn) {
      f.law.on_syn_ack(state(f), p.note, p.header.data());
      send(p.flow);
    } else {
      f.law.on_ack(state(f), p.note, p.header.data());
      repace(p.flow);
    }
    if (on_event) on_event(f.law, f.budget);
  }

  std::vector<LinkEnd> links_;
  std::deque<FlowEnd> flows_;
  std::priority_queue<Event> events_;
  uint64_t order_ = 0;
  Nanos now_{0};
};

}  // namespace turnpike::fcp::testing
