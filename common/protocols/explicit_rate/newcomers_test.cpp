// SPDX-License-Identifier: BSD-3-Clause
// Flows that start at the same time, at links of QFCP and QCP.
#include "common/protocols/explicit_rate/newcomers.h"

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/protocols/qcp/link.h"
#include "common/protocols/qfcp/link.h"
#include "common/units/instrumented.h"
#include "tests/support/gauge.h"

namespace turnpike::explicit_rate {
namespace {

constexpr double kCapacity = 12.5e6;  // B/s, 100 Mbit/s
constexpr uint32_t kSyn = 80;         // B

LinkState with_queue(double bytes) {
  return {.capacity = kCapacity, .queue = bytes, .buffer = 1e9};
}

using MakeLink = std::unique_ptr<LinkLaw> (*)(NewcomerRule, unsigned shards);

std::unique_ptr<LinkLaw> qfcp_link(NewcomerRule rule, unsigned shards) {
  ParamValues params(qfcp::kLinkParams);
  params[qfcp::kNewcomers] = static_cast<double>(rule);
  return std::make_unique<qfcp::Link>(params, shards);
}
template <qcp::Count Count>
std::unique_ptr<LinkLaw> qcp_link(NewcomerRule rule, unsigned shards) {
  ParamValues params(qcp::kLinkParams);
  params[qcp::kNewcomers] = static_cast<double>(rule);
  params[qcp::kCount] = static_cast<double>(Count);
  return std::make_unique<qcp::Link>(params, shards);
}
constexpr std::array<MakeLink, 3> kLinks{qfcp_link, qcp_link<qcp::Count::kExact>,
                                         qcp_link<qcp::Count::kSharing>};

/// The rate that a packet receives, B/s. `own_rate` is for QCP's header, which begins like QFCP's.
double told(LinkLaw& link, bool syn, double size, double own_rate, Nanos rtt, Nanos now,
            unsigned shard = 0) {
  std::array<uint8_t, qcp::kHeaderSize> header{};
  const auto rtt_ns = static_cast<uint32_t>(syn ? 0 : rtt.count());
  qcp::store({.common = {.rtt_ns = rtt_ns}, .interval = static_cast<float>(1 / own_rate)},
             header.data());
  std::array<LinkPacket, 1> burst{{{header.data(), static_cast<uint32_t>(size), syn}}};
  EXPECT_EQ(link.arrive(shard, burst, with_queue(0), now), 0U);
  return load(header.data()).rate;
}

TEST(Newcomers, SynsOfAnIntervalGetTheCapacityOnceAndDataAnEvenShareAtOnce) {
  for (const MakeLink make : kLinks) {
    for (const unsigned shards : {1U, 3U}) {
      const auto link = make(NewcomerRule::kLimited, shards);
      const Nanos end = link->update(with_queue(0), 0_s);
      double sum = 0;
      for (unsigned i = 0; i < 20; ++i)
        sum += told(*link, true, kSyn, kCapacity, 0_s, 1_ms, i % shards);
      EXPECT_NEAR(sum / kCapacity, 1, 1e-3);
      EXPECT_NEAR(told(*link, false, 1000, 1e4, 100_ms, 2_ms) / (kCapacity / 20), 1, 1e-3);
      link->update(with_queue(0), end);
      EXPECT_NEAR(gauge(*link, "rate_mbps") / (100.0 / 20), 1, 0.1);
    }
  }
}

TEST(Newcomers, UnlimitedSynsGetTheLinksRateEach) {
  for (const MakeLink make : kLinks) {
    const auto link = make(NewcomerRule::kUnlimited, 1);
    link->update(with_queue(0), 0_s);
    for (int i = 0; i < 20; ++i)
      EXPECT_NEAR(told(*link, true, kSyn, kCapacity, 0_s, 1_ms) / kCapacity, 1, 1e-6);
  }
}

// 80 flows of 10 kB in every interval of 100 ms: 0.64 of the capacity, each ending within one
// interval.
TEST(Newcomers, ShortFlowsAreChargedTheirMeanSize) {
  Newcomers newcomers(NewcomerRule::kLimited, 1);
  for (int interval = 0; interval < 60; ++interval) {
    double held = 0;
    for (int i = 0; i < 80; ++i) held += 1 - newcomers.admit(0, kCapacity, kCapacity) / kCapacity;
    if (interval >= 40) {
      EXPECT_NEAR(held, 0, 1e-3) << interval;
    }
    newcomers.update(0.1, 80 * 10e3);
  }
  // Then long flows: as many as start at once, the second has to wait.
  for (int interval = 0; interval < 100; ++interval) newcomers.update(0.1, 1.25e6);
  EXPECT_EQ(newcomers.admit(0, kCapacity, kCapacity), kCapacity);
  EXPECT_LT(newcomers.admit(0, kCapacity, kCapacity), 0.01 * kCapacity);
}

/// Flows as fluid, which start together on an idle link. Returns the longest queue in units of C
/// RTT.
double longest_queue(MakeLink make, NewcomerRule rule, size_t flows, Nanos rtt) {
  const auto link = make(rule, 1);
  const Nanos step = rtt / 50;
  struct Answer {
    Nanos at;
    double rate;
  };
  std::vector<double> rates(flows, 0);              // B/s
  std::vector<std::vector<Answer>> answers(flows);  // in flight, in order
  std::vector<size_t> heard(flows, 0);
  double queue = 0, longest = 0;
  Nanos due = 0_s;
  for (Nanos now = 0_s; now < rtt * 30; now += step) {
    for (size_t f = 0; f < flows; ++f) {
      for (; heard[f] < answers[f].size() && answers[f][heard[f]].at <= now; ++heard[f])
        rates[f] = std::max(answers[f][heard[f]].rate, 1000 / to_seconds(rtt));
      const bool syn = answers[f].empty();
      if (!syn && rates[f] == 0) continue;  // the SYN's answer is pending
      const double bytes = syn ? kSyn : rates[f] * to_seconds(step);
      queue += bytes;
      const double own = syn ? kCapacity : rates[f];
      // A packet's size field bounds a burst; a fraction of a packet is sent as one.
      if (bytes >= 1) answers[f].push_back({now + rtt, told(*link, syn, bytes, own, rtt, now)});
    }
    queue = std::max(0.0, queue - kCapacity * to_seconds(step));
    longest = std::max(longest, queue);
    if (now >= due) due = link->update(with_queue(queue), now);
  }
  return longest / (kCapacity * to_seconds(rtt));
}

// Unlimited, K flows bring K C for at least a round trip. Limited, they get C once in total; the
// held ones get their share a round trip later, while the first still sends at C for up to one
// more.
TEST(Newcomers, ACommonStartFillsNoMoreThanABufferOfOneBandwidthDelayProduct) {
  for (const MakeLink make : kLinks) {
    for (const Nanos rtt : {5_ms, 100_ms, 400_ms}) {
      if (kInstrumented && rtt != 100_ms) continue;
      for (const size_t flows : {2U, 10U, 60U}) {
        EXPECT_LT(longest_queue(make, NewcomerRule::kLimited, flows, rtt), 1)
            << flows << " flows, " << to_seconds(rtt) << " s";
      }
      EXPECT_GT(longest_queue(make, NewcomerRule::kUnlimited, 10, rtt), 5);
    }
  }
}

}  // namespace
}  // namespace turnpike::explicit_rate
