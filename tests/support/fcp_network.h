// SPDX-License-Identifier: BSD-3-Clause
// A few links and flows on a virtual clock, for tests of the law alone: no router, no transport.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <string_view>
#include <vector>

#include "common/protocols/fcp/protocol.h"
#include "tests/support/gauge.h"

namespace turnpike::fcp::testing {

/// First in, first out links without loss; senders paced by their law; one ACK per packet, which
/// takes no capacity. Without options: the paper's law, packets of 1000 B and SYNs of 40 B, as in
/// the paper.
class ToyNetwork {
 public:
  static constexpr uint32_t kPacket = 1000, kSyn = 40;

  struct Options {
    std::string_view preset = "paper";
    uint32_t packet = kPacket, syn = kSyn;                  // B
    double line = std::numeric_limits<double>::infinity();  // B/s of each sender's port
  };

  ToyNetwork() : ToyNetwork(Options{}) {}
  explicit ToyNetwork(const Options& options)
      : options_(options),
        link_params_(preset_values(kProtocol, true, options.preset)),
        flow_params_(preset_values(kProtocol, false, options.preset)) {}

  size_t add_link(BitRate capacity, Nanos delay) {
    links_.push_back(
        {kProtocol.make_link_law(link_params_, 1, 1), bytes_per_second(capacity), delay});
    return links_.size() - 1;
  }
  /// A parameter of the links that are added from now on.
  void set_link_param(LinkParam which, double value) { link_params_[which] = value; }
  /// Tells a link, before its first packet, the weights of the groups.
  void set_groups(size_t link, std::span<const double> weights) {
    links_[link].law->set_groups(weights);
  }
  /// Puts flow i into a group. Call before it starts.
  void set_group(size_t i, unsigned group) { flows_[i].group = static_cast<uint16_t>(group); }
  /// Flow i's money, of which exchange is `rate`. Its sender writes the rate into its packets.
  void set_exchange(size_t i, float rate) { flows_[i].exchange = rate; }
  /// Calls `look` with every data packet's header as it arrives at the end of its path.
  std::function<void(size_t flow, const Header&)> on_arrival;

  /// A flow over `path`; its ACKs come back after `back`.
  size_t add_flow(std::vector<size_t> path, Nanos back, Budget budget, Nanos start,
                  double bytes = std::numeric_limits<double>::infinity()) {
    FlowEnd& f = flows_.emplace_back(flow_params_);
    f.path = std::move(path);
    f.back = back;
    f.law().set_target(budget);
    f.budget = budget;
    f.unsent = f.bytes = bytes;
    f.start = start;
    at(start, [this, i = flows_.size() - 1] { open(i); });
    return flows_.size() - 1;
  }

  /// Passes a packet of `size` B with that congestion header, of no flow, through the link. Returns
  /// whether the law accepted it; a refused packet takes no capacity.
  bool inject(size_t link, const Header& header, uint32_t size, bool opens, uint16_t group = 0) {
    std::array<uint8_t, kHeaderSize> bytes;
    store(header, bytes.data());
    return pass(links_[link], bytes.data(), size, opens, group);
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
    f.allowance = f.law().on_pause(state(f), now_ - f.idle_from);
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

  /// The newest decision of flow i's law.
  const Allowance& flow(size_t i) const { return flows_[i].allowance; }
  Nanos now() const { return now_; }
  double queue(size_t link) const {
    const LinkEnd& l = links_[link];
    return std::max(0.0, to_seconds(l.free_at - now_) * l.capacity);
  }
  /// A gauge of the link's law by name; NaN if it has none of that name.
  double figure(size_t link, std::string_view name) const { return gauge(*links_[link].law, name); }
  double price(size_t link) const { return figure(link, "price"); }
  /// Packets of flows that a law has refused; must stay 0 with any injected packets.
  uint64_t refused() const { return refused_; }
  /// B of flow i that arrived so far.
  double delivered(size_t i) const { return flows_[i].delivered; }
  Nanos started(size_t i) const { return flows_[i].start; }
  /// From flow i's SYN to the ACK of its last packet, 0 s until then.
  Nanos completion(size_t i) const { return flows_[i].completion; }
  /// Mean rate delivered to flow i since the last call.
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

  /// Called at every event; tests check granted + pending <= budget in it.
  std::function<void(const Allowance&, Budget)> on_event;

 private:
  struct LinkEnd {
    std::unique_ptr<LinkLaw> law;
    double capacity;
    Nanos delay;
    Nanos free_at{0};
    double max_queue = 0;
  };
  // The law in storage of its own, as the sender keeps it.
  // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): readers decide the order
  struct alignas(64) FlowEnd {
    explicit FlowEnd(const ParamValues& params)
        : law_(kProtocol.make_flow_law(params, storage_.data())) {}
    ~FlowEnd() { law_->~FlowLaw(); }
    FlowEnd(const FlowEnd&) = delete;
    FlowEnd& operator=(const FlowEnd&) = delete;

    FlowLaw& law() { return *law_; }

    Allowance allowance;  // law's newest
    std::vector<size_t> path;
    Nanos back{0};
    Budget budget{0};
    Nanos start{0}, completion{0};
    double bytes = 0, unsent = 0;
    double limit = std::numeric_limits<double>::infinity();
    uint16_t group = 0;
    float exchange = 1;
    bool paused = false;
    Nanos idle_from{0};
    Nanos due{0};  // of the next packet, at `rate` B/s since the last one
    double rate = 0;
    uint64_t turn = 0;  // number of the valid timer; earlier ones are void
    Nanos rtt{0};
    double delivered = 0, marked = 0;
    Nanos mark{0};

   private:
    alignas(64) std::array<std::byte, FlowLaw::kMaxBytes> storage_;
    FlowLaw* law_;
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
            .packet_size = options_.packet,
            .unsent = f.unsent,
            .limit = f.limit,
            .line = options_.line,
            .headroom = f.budget.count() - f.allowance.committed};
  }

  void open(size_t i) {
    Packet p{.flow = i, .syn = true, .size = options_.syn, .sent = now_};
    FlowEnd& f = flows_[i];
    f.allowance.committed = f.law().write_syn(state(f), options_.syn, p.header.data(), p.note);
    hop(p, 0);
  }

  void send(size_t i) {
    FlowEnd& f = flows_[i];
    if (f.unsent <= 0 || f.paused) return;
    Packet p{.flow = i, .syn = false, .size = options_.packet, .sent = now_};
    f.allowance.committed = f.law().write_data(state(f), options_.packet, p.header.data(), p.note);
    f.unsent -= options_.packet;
    if (on_event) on_event(f.allowance, f.budget);
    hop(p, 0);
    f.rate = pace(f);
    f.due = now_ + from_seconds(options_.packet / f.rate);
    arm(i);
  }

  double pace(const FlowEnd& f) const {
    return std::min({f.allowance.rate, f.limit, options_.line});
  }
  void arm(size_t i) {
    at(flows_[i].due, [this, i, turn = ++flows_[i].turn] {
      if (turn == flows_[i].turn) send(i);
    });
  }
  /// Sends the rest of the gap at the new rate, where the rates differ enough.
  void repace(size_t i) {
    FlowEnd& f = flows_[i];
    const double rate = pace(f);
    if (f.paused || f.due <= now_ || std::abs(rate - f.rate) < 0.1 * f.rate) return;
    f.due = now_ + from_seconds(to_seconds(f.due - now_) * f.rate / rate);
    f.rate = rate;
    arm(i);
  }

  // Lets the law see the packet, which then occupies the link.
  // NOLINTNEXTLINE(readability-non-const-parameter): the law writes to it
  bool pass(LinkEnd& l, uint8_t* header, uint32_t size, bool opens, uint16_t group = 0) {
    std::array<LinkPacket, 1> burst{
        {{.header = header, .size = size, .opens = opens, .group = group}}};
    const double waiting = std::max(0.0, to_seconds(l.free_at - now_) * l.capacity);
    l.max_queue = std::max(l.max_queue, waiting);
    if (l.law->arrive(0, burst, {l.capacity, waiting, 1e9}, now_) != 0) return false;
    l.free_at = std::max(l.free_at, now_) + from_seconds(size / l.capacity);
    return true;
  }

  void hop(Packet p, size_t index) {
    FlowEnd& f = flows_[p.flow];
    if (index == 0) wire::store_be16(p.header.data() + kExchangeOffset, to_bfloat16(f.exchange));
    if (index == f.path.size()) {
      if (!p.syn) f.delivered += p.size;
      if (!p.syn && on_arrival) on_arrival(p.flow, load(p.header.data()));
      at(now_ + f.back, [this, p] { acknowledged(p); });
      return;
    }
    LinkEnd& l = links_[f.path[index]];
    if (!pass(l, p.header.data(), p.size, p.syn, f.group)) ++refused_;
    at(l.free_at + l.delay, [this, p, index] { hop(p, index + 1); });
  }

  void acknowledged(const Packet& p) {
    FlowEnd& f = flows_[p.flow];
    f.rtt = now_ - p.sent;
    if (p.syn) {
      const Opening opening = f.law().on_syn_ack(state(f), p.note, p.header.data());
      f.allowance = opening.allowance;
      f.due = now_ + opening.first_wait;
      if (f.due > now_)
        arm(p.flow);
      else
        send(p.flow);
    } else {
      f.allowance = f.law().on_ack(state(f), p.note, p.header.data());
      if (f.delivered >= f.bytes && f.completion == Nanos(0)) f.completion = now_ - f.start;
      repace(p.flow);
    }
    if (on_event) on_event(f.allowance, f.budget);
  }

  Options options_;
  ParamValues link_params_, flow_params_;
  std::vector<LinkEnd> links_;
  std::deque<FlowEnd> flows_;
  std::priority_queue<Event> events_;
  uint64_t order_ = 0, refused_ = 0;
  Nanos now_{0};
};

}  // namespace turnpike::fcp::testing
