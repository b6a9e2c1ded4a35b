// SPDX-License-Identifier: BSD-3-Clause
// FCP in the whole router: prices are correct, and invalid headers have no effect.
#include <array>
#include <cmath>
#include <deque>
#include <limits>

#include <gtest/gtest.h>

#include "common/protocols/fcp/flow.h"
#include "common/protocols/fcp/header.h"
#include "common/wire/bytes.h"
#include "common/wire/layers.h"
#include "tests/support/flow_under_test.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

constexpr double kCapacity = 100e6 / 8;  // B/s

double gauge(const World& w, std::string_view name) {
  const Snapshot s = w.snapshot();
  for (const Gauge& g : s.links[kRight].gauges)
    if (g.name == name) return g.value;
  return std::nan("");
}

/// A flow that pays 1 $/s by FCP's flow law; ACKs arrive 20 ms after its packets.
class Payer {
 public:
  static constexpr Nanos kRtt{20'000'000};

  explicit Payer(World& w, bool v6 = false) : w_(w), v6_(v6), law_(ParamValues(fcp::kFlowParams)) {
    law_.set_target(Budget(1));
    next_ = w_.now;
  }

  /// Runs for `span`, calling `also` at least every 100 us; returns the last price stamped.
  template <class Also>
  double play(Nanos span, Also also) {
    const Nanos end = w_.now + span;
    while (w_.now < end) {
      also();
      if (w_.now >= next_) send();
      while (!echoes_.empty() && echoes_.front().due <= w_.now) take_echo();
      const Nanos echo = echoes_.empty() ? kNever : echoes_.front().due;
      w_.run_until(std::min({next_, echo, end, w_.now + 100_us}));
      collect();
    }
    return price_;
  }

 private:
  struct Echo {
    Nanos due;
    uint32_t sequence;
    std::array<uint8_t, fcp::kHeaderSize> header;
  };

  [[nodiscard]] FlowState state() const {
    return {.now = w_.now, .rtt = rtt_, .smoothed_rtt = rtt_, .packet_size = 1500, .headroom = 1};
  }
  void send() {
    std::array<uint8_t, fcp::kHeaderSize> header{};
    notes_.emplace_back();
    const auto sequence = static_cast<uint32_t>(notes_.size() - 1);
    if (sequence == 0) {
      law_.write_syn(state(), 1500, header.data(), notes_.back());
      next_ = kNever;  // until the answer
    } else {
      law_.write_data(state(), 1500, header.data(), notes_.back());
      next_ = w_.now + from_seconds(1500 / law_.allowance.rate);
    }
    w_.arrive(kLeft, fcp({.kind = sequence == 0 ? wire::Kind::kSyn : wire::Kind::kData,
                          .v6 = v6_,
                          .sequence = sequence,
                          .header = header.data()}));
  }
  void collect() {
    std::deque<Nanos> when = w_.port(kRight).when;
    for (const Frame& f : w_.sent(kRight)) {
      const Nanos left = when.front();
      when.pop_front();
      EXPECT_EQ(unsound(f), "");
      if (f.size() < 1000 || price_of(f) < 0) continue;
      price_ = price_of(f);
      wire::UdpFrame at;
      wire::locate_udp(f, at);
      Echo e{
          .due = left + kRtt, .sequence = wire::load_be32(f.data() + at.payload + 8), .header = {}};
      std::copy_n(f.begin() + at.payload + wire::kHeaderSize, e.header.size(), e.header.begin());
      echoes_.push_back(e);
    }
  }
  void take_echo() {
    const Echo e = echoes_.front();
    echoes_.pop_front();
    rtt_ = kRtt;
    if (e.sequence == 0) {
      EXPECT_TRUE(law_.on_syn_ack(state(), notes_[0], e.header.data()));
      next_ = w_.now;
    } else {
      EXPECT_TRUE(law_.on_ack(state(), notes_[e.sequence], e.header.data()));
    }
  }

  World& w_;
  bool v6_;
  FlowUnderTest<fcp::Flow> law_;
  Nanos rtt_{0}, next_{0};
  double price_ = 0;
  std::deque<Echo> echoes_;
  std::vector<PacketNote> notes_;
};

TEST(Price, OneFlowAlonePaysItsBudgetForTheCapacity) {
  // w = 1 $/s on a link of C B/s: p = 1/C.
  for (const bool v6 : {false, true}) {
    World w;
    const double price = Payer(w, v6).play(1_s, [] {});
    EXPECT_NEAR(price * kCapacity, 1, 0.02);
    EXPECT_NEAR(gauge(w, "price") * kCapacity, 1, 0.02);
    EXPECT_NEAR(gauge(w, "incoming_budget"), 1, 0.02);
    EXPECT_NEAR(gauge(w, "average_rtt_ms"), 20, 0.01);
    const Snapshot s = w.snapshot();
    EXPECT_GT(static_cast<double>(s.links[kRight].tx_bytes), 0.93 * kCapacity);
    EXPECT_EQ(s.dropped(), 0U);
  }
}

TEST(Price, AddsToThePriceOfTheLinksBefore) {
  World w;
  const double alone = Payer(w).play(500_ms, [] {});
  w.arrive(kLeft, fcp({.price = 5e-8F, .balance = static_cast<float>(1 / kCapacity)}));
  w.run_until(w.now + 20_ms);
  EXPECT_NEAR(price_of(w.sent(kRight).back()), alone + 5e-8, 0.03 * alone);
}

TEST(Price, PlainTrafficAndAcksLoadTheLinkAndStayAsTheyAre) {
  World w;
  const Frame ack = fcp({.kind = wire::Kind::kAck, .price = 3e-9F, .datagram = 100});
  const Frame other = plain(1500);
  int n = 0;
  Nanos next{0};
  // Other traffic takes half of the capacity: the price doubles.
  const double price = Payer(w).play(2_s, [&] {
    if (w.now < next) return;
    next = std::max(next, w.now - 1_ms) + from_seconds(1500 / (kCapacity / 2));
    w.arrive(kLeft, other);
    if (++n % 100 == 0) w.arrive(kLeft, ack);
  });
  EXPECT_NEAR(price * kCapacity, 2, 0.06);
}

TEST(Price, AckKindsAreNotStamped) {
  for (const wire::Kind kind :
       {wire::Kind::kSynAck, wire::Kind::kAck, wire::Kind::kFinAck, wire::Kind::kReset}) {
    World w;
    w.arrive(kLeft, fcp({.kind = kind, .price = 3e-9F, .datagram = 100}));
    w.poll(w.now);
    EXPECT_EQ(price_of(w.only(kRight)), 3e-9F);
    EXPECT_EQ(w.snapshot().links[kRight].stamped, 0U);
  }
  for (const wire::Kind kind : {wire::Kind::kSyn, wire::Kind::kData, wire::Kind::kFin}) {
    World w;
    w.arrive(kLeft, fcp({.kind = kind, .balance = 1e-8F, .datagram = 100}));
    w.poll(w.now);
    EXPECT_GT(price_of(w.only(kRight)), 0);
    EXPECT_EQ(w.snapshot().links[kRight].stamped, 1U);
  }
}

TEST(Price, LinksWithoutALawLeaveHeadersAlone) {
  World w;
  const Frame f =
      fcp({.price = 2e-9F, .balance = std::nanf(""), .datagram = 100, .destination = "10.0.3.2"});
  w.arrive(kLeft, f);
  w.poll(w.now);
  const Frame out = w.only(kNarrow);
  EXPECT_TRUE(std::equal(f.begin() + 34, f.end(), out.begin() + 34, out.end()));
}

TEST(Price, AnAbsentChecksumStaysAbsent) {
  for (const bool v6 : {false, true}) {
    World w;
    w.arrive(kLeft, fcp({.balance = 1e-8F, .v6 = v6, .checksum = false}));
    w.poll(w.now);
    const Frame out = w.only(kRight);
    EXPECT_GT(price_of(out), 0);
    EXPECT_EQ(wire::load_be16(out.data() + (v6 ? 60 : 40)), 0);
  }
}

TEST(Price, ChecksumsAreRightForEveryPrice) {
  World w;
  uint32_t bits = 0x21000000;
  for (int i = 0; i < 3000; ++i, bits += 131'071) {
    w.arrive(kLeft, fcp({.price = std::bit_cast<float>(bits), .balance = 1e-9F, .datagram = 120}));
    w.poll(w.now + 10_us);
    for (const Frame& f : w.sent(kRight)) ASSERT_EQ(unsound(f), "") << i;
  }
}

TEST(Price, UnbelievableFieldsEndInACounterAndPoisonNothing) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<FcpSpec> lies{{.balance = std::nanf("")},
                                  {.balance = inf},
                                  {.balance = -1e-8F},
                                  {.balance = 1e-42F},
                                  {.balance = 3e38F},
                                  {.price = std::nanf("")},
                                  {.price = -1},
                                  {.price = inf},
                                  {.preload = std::nanf("")},
                                  {.preload = inf},
                                  {.preload = -inf},
                                  {.preload = 3e38F},
                                  {.rtt_ns = 1, .balance = 1e-8F},
                                  {.kind = wire::Kind::kSyn, .rtt_ns = 0, .preload = std::nanf("")},
                                  {.kind = wire::Kind::kFin, .balance = std::nanf("")}};
  World honest;
  const double price = Payer(honest).play(300_ms, [] {});
  World w;
  size_t next = 0;
  uint64_t told = 0;
  const double poisoned = Payer(w).play(300_ms, [&] {
    if (next++ % 40 != 0) return;
    FcpSpec lie = lies[told++ % lies.size()];
    lie.datagram = 100;
    w.arrive(kLeft, fcp(lie));
  });
  EXPECT_GE(told, lies.size());
  EXPECT_EQ(w.drops(DropReason::kBadCongestionHeader), told);
  EXPECT_NEAR(poisoned, price, 0.01 * price);
  EXPECT_TRUE(std::isfinite(gauge(w, "price")));
}

}  // namespace
}  // namespace turnpike::router::test
