// SPDX-License-Identifier: BSD-3-Clause
// Two hosts on one link under a virtual clock, and a law with scripted figures.
#pragma once

#include <cmath>
#include <vector>

#include "common/protocols/fcp/header.h"
#include "common/wire/bytes.h"
#include "sender/sender.h"
#include "tests/support/sender_channel.h"
#include "tests/support/sender_hosts.h"

namespace turnpike::sender::testing {

/// Sends at a constant rate; checks that the transport reports the end of every packet exactly
/// once.
class FixedLaw final : public FlowLaw {
 public:
  static inline double rate_bps = 8e6;
  static inline int64_t unsettled = 0, acknowledged = 0, silent = 0, lost = 0;
  static void reset(double bps) {
    rate_bps = bps;
    unsettled = acknowledged = silent = lost = 0;
  }

  void set_target(Budget) override {}
  double write_syn(const FlowState&, uint32_t, uint8_t* header, PacketNote& n) override {
    return write(header, n);
  }
  double write_data(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& n) override {
    EXPECT_GE(s.unsent, size);
    return write(header, n);
  }
  double write_fin(const FlowState&, uint32_t, uint8_t* header, PacketNote& n) override {
    return write(header, n);
  }
  Opening on_syn_ack(const FlowState& s, const PacketNote& n, const uint8_t* header) override {
    return {on_ack(s, n, header)};
  }
  Allowance on_ack(const FlowState& s, const PacketNote& n, const uint8_t* header) override {
    EXPECT_GT(s.rtt, Nanos(0));
    settle(n, acknowledged);
    return allow(s, std::isfinite(wire::load_f32(header + 4)));
  }
  Allowance on_ack_without_feedback(const FlowState& s, const PacketNote& n) override {
    settle(n, silent);
    return allow(s);
  }
  Allowance on_loss(const FlowState& s, const PacketNote& n) override {
    settle(n, lost);
    return allow(s);
  }
  Allowance on_timeout(const FlowState& s) override { return allow(s); }
  Allowance on_pause(const FlowState& s, Nanos) override { return allow(s); }

 private:
  static Allowance allow(const FlowState& s, bool credible = true) {
    return {.rate = rate_bps / 8, .floor = packet_per_round_trip(s), .credible = credible};
  }
  static constexpr uint64_t kMark = 0x746f6c6c;
  static double write(uint8_t* header, PacketNote& n) {
    std::memset(header, 0, fcp::kHeaderSize);
    n.put(kMark);
    ++unsettled;
    return 0;
  }
  static void settle(const PacketNote& n, int64_t& as) {
    EXPECT_EQ(n.get<uint64_t>(), kMark);
    --unsettled;
    ++as;
  }
};

/// FCP's entry of the registry with the fixed law in it.
inline const Protocol* find_fixed(std::string_view name) {
  static const Protocol fixed = [] {
    Protocol p = *find_protocol("fcp");
    p.make_flow_law = [](const ParamValues&, void* storage) -> FlowLaw* {
      return new (storage) FixedLaw;
    };
    return p;
  }();
  return name == "fcp" ? &fixed : nullptr;
}

class Outcomes final : public OutcomeSink {
 public:
  void flow_ended(const FlowOutcome& o) override { all.push_back(o); }
  std::vector<FlowOutcome> all;
};

/// Flows of `size` from host 0 to host 1, `per_second` of them.
inline config::Workload periodic_flows(double per_second, Bytes size) {
  config::Workload w;
  w.name = "crowd";
  w.from = {0};
  w.to = {1};
  w.arrivals = config::PeriodicArrivals{per_second};
  w.size = config::FixedSize{size};
  return w;
}

inline config::Flow finite(uint64_t size, Nanos start = Nanos(0)) {
  config::Flow f;
  f.name = "flow";
  f.to = 1;
  f.start = start;
  f.size = size;
  return f;
}

/// Runs a topology of two hosts over a channel, each host with a sender of its own.
class World {
 public:
  World(config::Topology topology, ChannelOptions channel,
        const Protocol* (*find)(std::string_view) = find_fixed,
        rte_mempool* pool = turnpike::testing::test_pool().get(), bool zeroed = false)
      : topology_(std::move(topology)), channel_(std::move(channel)) {
    for (uint32_t i = 0; i < 2; ++i) {
      const PortBinding binding{i, &channel_.end(i)};
      auto made = Sender::make(topology_, {.bindings = {&binding, 1},
                                           .pool = pool,
                                           .zeroed = zeroed,
                                           .outcomes = outcomes_,
                                           .seed = topology_.run.seed,
                                           .find = find});
      EXPECT_TRUE(made.has_value()) << made.error();
      senders_[i] = std::move(*made);
    }
  }

  /// Jumps from deadline to deadline until `end`, or until nothing is left to do.
  void run(Nanos end) {
    while (now_ <= end) {
      Nanos next = kNever;
      for (auto& s : senders_) next = std::min(next, s->poll(now_));
      for (auto& s : senders_) next = std::min(next, s->hosts()[0]->queue().next_deadline());
      if (after_poll) after_poll();
      ++polls_;
      if (next == kNever) break;
      if (next > now_) still_ = 0;
      ASSERT_LT(++still_, 100000) << "time stands still at " << now_.count();
      if (next > end) break;
      now_ = std::max(now_, next);
    }
  }

  [[nodiscard]] Sender& sender(size_t i) { return *senders_[i]; }
  [[nodiscard]] const HostTotals& totals(size_t i) { return senders_[i]->hosts()[0]->totals(); }
  [[nodiscard]] Source& source() { return senders_[0]->hosts()[0]->source(); }
  [[nodiscard]] Channel& channel() { return channel_; }
  [[nodiscard]] const std::vector<FlowOutcome>& outcomes() const { return outcomes_.all; }
  [[nodiscard]] Nanos now() const { return now_; }
  /// Checks that every flow has closed and has returned all of its resources.
  void expect_clean() {
    LcoreState& lcore = senders_[0]->lcore();
    EXPECT_EQ(lcore.flows.open_flows(), 0U);
    EXPECT_EQ(lcore.records.free(), lcore.records.capacity());
    EXPECT_EQ(FixedLaw::unsettled, 0);
  }

  std::function<void()> after_poll;

 private:
  config::Topology topology_;
  Channel channel_;
  Outcomes outcomes_;
  std::array<std::unique_ptr<Sender>, 2> senders_;
  Nanos now_{0};
  int still_ = 0;
  uint64_t polls_ = 0;
};

}  // namespace turnpike::sender::testing
