// SPDX-License-Identifier: BSD-3-Clause
// Tests each lie packet by packet, and that a cheater without a lie is the honest law.
#include "common/protocols/fcp/cheating_flow.h"

#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/protocols/fcp/protocol.h"
#include "common/protocols/random.h"
#include "common/units/instrumented.h"

namespace turnpike::fcp::cheating_flow_test {
namespace {

constexpr uint32_t kPacket = 1000, kSyn = 84;
constexpr double kPrice = 1e-7;  // $/B, at which 1 $/s buys 10 MB/s
using Congestion = std::array<uint8_t, kHeaderSize>;
using Lies = std::initializer_list<std::pair<CheatingParam, double>>;

ParamValues values_of(Lies lies, std::string_view preset = "turnpike") {
  ParamValues values = preset_values(kProtocol, false, preset);
  for (const auto& [param, value] : lies) values[kFirstLie + param] = value;
  return values;
}

/// A law in its storage, as the transport keeps it.
struct Storage {
  explicit Storage(const ParamValues& values) { law = make_flow(values, bytes.data()); }
  ~Storage() { law->~FlowLaw(); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  alignas(64) std::array<std::byte, FlowLaw::kMaxBytes> bytes{};
  FlowLaw* law;
};

/// A flow with an RTT of 20 ms and a budget of 1 $/s.
struct Sender {
  explicit Sender(const ParamValues& values) : storage(values) {
    storage.law->set_target(Budget(1));
  }
  explicit Sender(Lies lies) : Sender(values_of(lies)) {}

  void take(const Allowance& a) {
    allowance = a;
    state.headroom = 1 - a.committed;
  }
  void open(double price) {
    Congestion header;
    PacketNote note;
    take({.committed = storage.law->write_syn(state, kSyn, header.data(), note)});
    syn = load(header.data());
    state.now += state.rtt;
    store({.price = static_cast<float>(price)}, header.data());
    take(storage.law->on_syn_ack(state, note, header.data()).allowance);
  }
  PacketNote send() {
    Congestion header;
    PacketNote note;
    allowance.committed = storage.law->write_data(state, kPacket, header.data(), note);
    last = load(header.data());
    return note;
  }
  void acknowledge(const PacketNote& note, double price) {
    Congestion header;
    store({.price = static_cast<float>(price)}, header.data());
    take(storage.law->on_ack(state, note, header.data()));
  }
  /// Sends packets at the flow's rate for `time`, acknowledged at once.
  void run(double price, Nanos time) {
    for (const Nanos end = state.now + time; state.now < end;) {
      acknowledge(send(), price);
      state.now += from_seconds(kPacket / allowance.rate);
    }
  }

  Storage storage;
  FlowState state{
      .now = 1_s, .rtt = 20_ms, .smoothed_rtt = 20_ms, .packet_size = kPacket, .headroom = 1};
  Allowance allowance;
  Header syn, last;
};

Sender& settled(Sender& s) {
  s.open(kPrice);
  s.run(kPrice, 200_ms);
  s.send();
  return s;
}

TEST(CheatingFlow, HonestParametersMakeTheHonestLaw) {
  for (const char* preset : {"turnpike", "paper"}) {
    const Storage storage(values_of({}, preset));
    EXPECT_EQ(dynamic_cast<CheatingFlow*>(storage.law), nullptr) << preset;
    EXPECT_FALSE(kProtocol.cheats(values_of({}, preset)));
  }
  const Storage cheater(values_of({{kPriceLie, 0.5}}));
  EXPECT_NE(dynamic_cast<CheatingFlow*>(cheater.law), nullptr);
  EXPECT_TRUE(kProtocol.cheats(values_of({{kPriceLie, 0.5}})));
  EXPECT_FALSE(kProtocol.cheats(values_of({{kCheatFor, 0.5}}))) << "no lie, whatever its schedule";
}

// A decorator without a lie beside the law alone, on random events: every byte and figure agrees.
TEST(CheatingFlow, WithoutALieIsTheInnerLaw) {
  for (const char* preset : {"turnpike", "paper", "swift"}) {
    for (uint64_t seed = 1; seed <= 50; ++seed) {
      SplitMix64 random(seed);
      const ParamValues values = values_of({}, preset);
      CheatingFlow cheater(values, kFirstLie, make_honest_flow);
      const Storage honest(values);
      const std::array<FlowLaw*, 2> laws{&cheater, honest.law};
      FlowState state{.rtt = 20_ms, .smoothed_rtt = 20_ms, .packet_size = kPacket, .headroom = 1};
      std::array<PacketNote, 2> notes;
      std::array<Allowance, 2> allowances;
      for (int event = 0; event < 300; ++event) {
        state.now += Nanos(static_cast<int64_t>(random.next() % 3'000'000));
        Congestion echo;
        store({.price = static_cast<float>(std::pow(10, -18 + 17 * random.uniform()))},
              echo.data());
        const uint64_t kind = event == 0 ? 0 : event == 1 ? 1 : 2 + random.next() % 8;
        std::array<Congestion, 2> packets{};
        for (size_t i = 0; i < 2; ++i) {
          FlowLaw& law = *laws[i];
          state.headroom = 1 - allowances[1].committed;
          switch (kind) {
            case 0:
              law.set_target(Budget(1));
              allowances[i] = {.committed =
                                   law.write_syn(state, kSyn, packets[i].data(), notes[i])};
              break;
            case 1:
              allowances[i] = law.on_syn_ack(state, notes[i], echo.data()).allowance;
              break;
            case 2:
            case 3:
              allowances[i].committed = law.write_data(state, kPacket, packets[i].data(), notes[i]);
              break;
            case 4:
              allowances[i] = law.on_ack_without_feedback(state, notes[i]);
              break;
            case 5:
              allowances[i] = law.on_loss(state, notes[i]);
              break;
            case 6:
              allowances[i] = law.on_pause(state, 5_ms);
              break;
            case 7:
              allowances[i] = law.on_timeout(state);
              break;
            default:
              allowances[i] = law.on_ack(state, notes[i], echo.data());
          }
        }
        ASSERT_EQ(packets[0], packets[1]) << preset << " " << seed;
        ASSERT_EQ(allowances[0].rate, allowances[1].rate) << preset << " " << seed;
        ASSERT_EQ(allowances[0].committed, allowances[1].committed) << preset << " " << seed;
      }
    }
  }
}

TEST(CheatingFlow, PriceLieBuysMoreForTheSameBudget) {
  Sender s({{kPriceLie, 0.25}});
  settled(s);
  EXPECT_NEAR(s.allowance.rate, 40e6, 4e5);
  EXPECT_NEAR(s.last.balance, 0.25 * kPrice, 1e-12) << "and declares the price that it pays by";
}

TEST(CheatingFlow, BalanceLieLeavesTheRateAlone) {
  Sender s({{kBalanceLie, 0.1}});
  settled(s);
  EXPECT_NEAR(s.allowance.rate, 10e6, 1e5);
  EXPECT_NEAR(s.last.balance, 0.1 * kPrice, 1e-12);
}

TEST(CheatingFlow, BudgetLieExceedsItsHostsBudget) {
  Sender s({{kBudgetLie, 10}});
  s.open(kPrice);
  EXPECT_EQ(s.syn.balance, 10) << "$/s that the SYN declares";
  s.run(kPrice, 200_ms);
  EXPECT_NEAR(s.allowance.rate, 100e6, 1e6);
  EXPECT_NEAR(s.allowance.committed, 10, 0.1);
}

TEST(CheatingFlow, FieldsAreScaled) {
  Sender honest({}), s({{kReserveLie, 3},
                        {kRttLie, 0.5},
                        {kAgeLie, 2},
                        {kPreloadLie, -0.5},
                        {kSlotLie, 4},
                        {kExchangeLie, 5}});
  settled(honest);
  settled(s);
  EXPECT_NEAR(s.last.reserve / honest.last.reserve, 3, 0.01);
  EXPECT_EQ(s.last.rtt_ns, 10'000'000U);
  EXPECT_NEAR(s.last.age_ns, 2.0 * honest.last.age_ns, 2);
  EXPECT_NEAR(s.last.preload - honest.last.preload, -0.5, 0.01);
  EXPECT_NEAR(s.last.slot / honest.last.slot, 4, 0.02);
  EXPECT_EQ(s.last.exchange, 5);
  EXPECT_NEAR(s.allowance.rate, honest.allowance.rate, 1);
}

TEST(CheatingFlow, OverPreloadBeginsWithTheSyn) {
  Sender honest({}), s({{kPreloadLie, 1}});
  honest.open(kPrice);
  s.open(kPrice);
  EXPECT_NEAR(s.syn.preload, 2 * honest.syn.preload, 1e-3);
}

TEST(CheatingFlow, IgnoresThePrice) {
  Sender s({{kIgnorePrice, 100e6}});
  s.open(1e3);
  EXPECT_EQ(s.allowance.rate, 12.5e6);
  s.acknowledge(s.send(), 1e3);
  EXPECT_EQ(s.allowance.rate, 12.5e6);
  EXPECT_GT(s.last.slot, 1) << "but declares the rate that its budget buys";

  Sender open({{kIgnorePrice, 100e6}, {kDeclare, 1}});
  open.open(1e3);
  open.send();
  EXPECT_NEAR(open.last.slot, kPacket / 12.5e6, 1e-9);
}

TEST(CheatingFlow, ForgesAndReplaysPrices) {
  Sender forger({{kForge, 1e-8}});
  settled(forger);
  EXPECT_NEAR(forger.last.balance, 1e-8, 1e-14);

  Sender replayer({{kReplay, 1}});
  replayer.open(1e-9);
  if (kInstrumented) replayer.state.now += 470_ms;  // at that price it sends a packet each us
  replayer.run(kPrice, kInstrumented ? 30_ms : 500_ms);
  replayer.send();
  EXPECT_NEAR(replayer.last.balance, 1e-9, 1e-15) << "the price of half a second ago";
  replayer.state.now += 1_s;
  replayer.acknowledge(replayer.send(), kPrice);
  replayer.state.now += 1200_ms;
  replayer.acknowledge(replayer.send(), 2 * kPrice);
  replayer.send();
  EXPECT_NEAR(replayer.last.balance, 2 * kPrice, 1e-13) << "older ones are forgotten";
}

// Against the lowest of all prices that are at most so old, up to the width of a part.
TEST(CheatingFlow, LowestPriceIsThatOfItsSpan) {
  for (uint64_t seed = 1; seed <= (kInstrumented ? 20 : 100); ++seed) {
    SplitMix64 random(seed);
    LowestPrice lowest(800_ms);
    std::vector<std::pair<Nanos, float>> all;
    Nanos now{0};
    for (int i = 0; i < 300; ++i) {
      now += Nanos(static_cast<int64_t>(random.next() % 60'000'000));
      all.emplace_back(now, static_cast<float>(random.uniform()));
      const auto since = [&](Nanos age) {
        float least = all.back().second;
        for (const auto& [at, price] : all)
          if (at >= now - age) least = std::min(least, price);
        return least;
      };
      const float found = lowest.add(all.back().second, now);
      ASSERT_GE(found, since(800_ms)) << seed;
      ASSERT_LE(found, since(700_ms)) << seed;
    }
  }
}

TEST(CheatingFlow, BeginsRestsAndGoesOn) {
  Sender s({{kPriceLie, 0.1}, {kCheatAfter, 0.5}, {kCheatFor, 0.2}, {kRestFor, 0.3}});
  s.open(kPrice);  // at 1 s; 1.02 s now
  const auto lies_at = [&](Nanos at) {
    s.state.now = at;
    s.acknowledge(s.send(), kPrice);
    s.send();
    return s.last.balance < 0.5 * kPrice;
  };
  EXPECT_FALSE(lies_at(1490_ms));
  EXPECT_TRUE(lies_at(1510_ms));
  EXPECT_TRUE(lies_at(1690_ms));
  EXPECT_FALSE(lies_at(1710_ms));
  EXPECT_FALSE(lies_at(1990_ms));
  EXPECT_TRUE(lies_at(2010_ms));
}

TEST(CheatingFlow, BudgetIsTheTrueOneDuringARest) {
  Sender s({{kBudgetLie, 4}, {kCheatFor, 0.5}, {kRestFor, 0.5}});
  s.open(kPrice);
  s.run(kPrice, 400_ms);
  EXPECT_NEAR(s.allowance.committed, 4, 0.1);
  s.run(kPrice, 400_ms);
  EXPECT_NEAR(s.allowance.committed, 1, 0.01);
}

TEST(CheatingFlow, AdaptsToWhatIsPunished) {
  const ParamValues values = values_of({{kBudgetLie, 2}, {kRttLie, 2}, {kForge, 1}, {kAdapt, 1}});
  LieSchedule schedule(values, kFirstLie);
  const auto bit = [](CheatingParam lie) { return LieSet{1} << lie; };
  const LieSet budget = bit(kBudgetLie), rtt = bit(kRttLie), forge = bit(kForge);
  Nanos now = 1_s;
  EXPECT_EQ(schedule.at(now), 0U) << "honest first";
  const auto period = [&](int packets) {
    for (int i = 0; i < packets; ++i) schedule.delivered();
    now += 1_s;
    return schedule.at(now);
  };
  // Two periods each; the first of them is not compared.
  EXPECT_EQ(period(500), 0U);
  EXPECT_EQ(period(100), budget);
  EXPECT_EQ(period(100), budget);
  EXPECT_EQ(period(300), rtt);
  EXPECT_EQ(period(300), rtt);
  EXPECT_EQ(period(90), forge);
  EXPECT_EQ(period(90), forge);
  EXPECT_EQ(period(200), budget) << "it delivered most";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(period(160), budget) << "more than half of that";
  EXPECT_EQ(period(20), 0U) << "caught: the trials begin again";
  EXPECT_EQ(period(20), 0U);
  EXPECT_EQ(period(20), budget);
  EXPECT_EQ(period(20), budget);
  EXPECT_EQ(period(20), rtt);
  EXPECT_EQ(period(20), rtt);
  EXPECT_EQ(period(60), forge);
  EXPECT_EQ(period(60), forge);
  EXPECT_EQ(period(20), rtt) << "now this one delivers most";
}

// Routers drop packets with other fields, and a cheater would not write them.
TEST(CheatingFlow, FieldsStayCredible) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SplitMix64 random(seed);
    ParamValues values = values_of({}, seed % 2 == 0 ? "turnpike" : "paper");
    for (size_t i = 0; i < kLieCount; ++i) {
      const ParamSpec& spec = kCheatingParams[i];
      const std::array choices{spec.min, spec.max, spec.fallback, 1e-3, 1e3};
      values[kFirstLie + i] =
          std::clamp(choices[random.next() % choices.size()], spec.min, spec.max);
    }
    Sender s(values);
    s.open(seed % 3 == 0 ? 1e-18 : kPrice);
    EXPECT_TRUE(credible(s.syn)) << seed;
    for (int i = 0; i < 50; ++i) {
      s.state.now += 1_ms;
      s.acknowledge(s.send(), random.uniform() < 0.1 ? 1e12 : kPrice);
      EXPECT_TRUE(credible(s.last)) << seed;
      EXPECT_TRUE(s.allowance.rate >= 0 && std::isfinite(s.allowance.rate)) << seed;
    }
  }
}

TEST(CheatingFlow, NonsenseIsNotCredible) {
  Sender s({{kPriceLie, 0.5}, {kReplay, 1}});
  s.open(kPrice);
  s.acknowledge(s.send(), std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(s.allowance.credible);
  EXPECT_TRUE(std::isfinite(s.allowance.rate));
}

}  // namespace
}  // namespace turnpike::fcp::cheating_flow_test
