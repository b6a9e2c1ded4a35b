// SPDX-License-Identifier: BSD-3-Clause
// Random numbers: equal for equal seeds, independent otherwise.
#include "common/protocols/random.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/protocols/aqm/params.h"
#include "common/protocols/fcp/params.h"
#include "common/protocols/fcp/price_noise.h"
#include "common/protocols/qcp/header.h"
#include "common/protocols/qcp/params.h"
#include "common/protocols/registry.h"
#include "common/protocols/tcp/header.h"
#include "tests/support/gauge.h"

namespace turnpike {
namespace {

TEST(SplitMix64, IsEvenAndItsStreamsAreUnrelated) {
  constexpr int kDraws = 100'000;
  for (const auto& [seed, stream] : std::vector<std::array<uint64_t, 2>>{{0, 0}, {1, 0}, {0, 1}}) {
    SplitMix64 one(seed, stream), neighbour(seed, stream + 1), other(seed + 1, stream);
    double sum = 0, with_neighbour = 0, with_other = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = one.uniform();
      ASSERT_TRUE(x >= 0 && x < 1);
      sum += x;
      with_neighbour += (x - 0.5) * (neighbour.uniform() - 0.5);
      with_other += (x - 0.5) * (other.uniform() - 0.5);
    }
    EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
    EXPECT_NEAR(12 * with_neighbour / kDraws, 0, 0.015);
    EXPECT_NEAR(12 * with_other / kDraws, 0, 0.015);
  }
}

TEST(LinkSeed, DependsOnRunLinkAndEnd) {
  std::set<uint64_t> all;
  for (const uint64_t run : {0, 1, 2})
    for (const char* link : {"a-b", "b-a", "a-c"})
      for (const size_t end : {0, 1}) all.insert(link_seed(run, link, end));
  EXPECT_EQ(all.size(), 3U * 3 * 2);
  EXPECT_EQ(link_seed(7, "bottleneck", 1), link_seed(7, "bottleneck", 1));
}

constexpr LinkState kLink{.capacity = 1e6, .queue = 150e3, .buffer = 300e3};

/// Results of a law for a thousand packets (dropped or not, or the feedback), after a thousand
/// others.
std::vector<double> outcomes(LinkLaw& law, unsigned shard, const std::vector<uint8_t>& header) {
  std::vector<double> all;
  Nanos now = 1_s, due{0};
  for (int i = 0; i < 2000; ++i, now += 1_ms) {
    if (now >= due) due = law.update(kLink, now);
    std::vector<uint8_t> bytes = header;
    LinkPacket p{.header = bytes.data(), .size = 1000};
    law.arrive(shard, {&p, 1}, kLink, now);
    const double price = gauge(law, "price");
    if (i < 1000) continue;
    all.push_back(static_cast<double>(p.action) + (bytes == header ? 0 : 10));
    if (!std::isnan(price)) all.push_back(price);
  }
  return all;
}

struct Chance {
  const char* name;
  const char* protocol;
  std::function<void(ParamValues&)> set;
  std::function<std::vector<uint8_t>()> header;
};

std::vector<uint8_t> of_tcp() {
  std::vector<uint8_t> bytes(tcp::kHeaderSize);
  tcp::store(tcp::kCapable, bytes.data());
  return bytes;
}
std::vector<uint8_t> of_qcp() {  // sends at most of the link's rate
  std::vector<uint8_t> bytes(qcp::kHeaderSize);
  const float rate = 1.9e6F;
  qcp::store({{.rtt_ns = 100'000'000, .rate = rate}, 1 / rate}, bytes.data());
  return bytes;
}

std::vector<Chance> chances() {
  // Curves on whose slope a queue of half a buffer lies.
  const auto discipline = [](aqm::Discipline d) {
    return [d](ParamValues& p) {
      p[aqm::kDiscipline] = static_cast<double>(d);
      p[aqm::kRioOutMinTh] = 50;
      p[aqm::kRioOutMaxTh] = 250;
      p[aqm::kRemGamma] = 0.01;
    };
  };
  return {
      {"RED", "tcp", discipline(aqm::Discipline::kRed), of_tcp},
      {"REM", "tcp", discipline(aqm::Discipline::kRem), of_tcp},
      {"RIO", "tcp", discipline(aqm::Discipline::kRio), of_tcp},
      {"rate limiting", "qcp",
       [](ParamValues& p) { p[qcp::kPolice] = static_cast<double>(qcp::Police::kDrop); }, of_qcp},
      {"noise", "fcp", [](ParamValues& p) { p[fcp::kNoise] = 0.3; },
       [] { return std::vector<uint8_t>(find_protocol("fcp")->header_size); }}};
}

TEST(Noise, HasOneErrorForADisturbance) {
  ParamValues params(find_protocol("fcp")->link_params);
  params[fcp::kNoise] = 0.3;
  params[fcp::kNoiseDraw] = static_cast<double>(fcp::NoiseDraw::kWindow);
  uint64_t state = 7;
  std::set<double> errors;
  for (int64_t second = 1; second <= 100; ++second) {
    const double first = fcp::price_noise(params, state, 1_s * second);
    EXPECT_EQ(fcp::price_noise(params, state, 1_s * second + 99_ms), first);
    EXPECT_EQ(fcp::price_noise(params, state, 1_s * second + 100_ms), 1);
    EXPECT_LE(std::fabs(first - 1), 0.3);
    errors.insert(first);
  }
  EXPECT_EQ(errors.size(), 100U);
  EXPECT_LT(*errors.begin(), 0.75);
  EXPECT_GT(*errors.rbegin(), 1.25);
}

TEST(Chance, OfALinkIsItsSeedsAndItsLcores) {
  for (const Chance& c : chances()) {
    const Protocol& protocol = *find_protocol(c.protocol);
    ParamValues params(protocol.link_params);
    c.set(params);
    const auto play = [&](uint64_t seed, unsigned shard = 0) {
      return outcomes(*protocol.make_link_law(params, 2, seed), shard, c.header());
    };
    const auto one = play(5);
    EXPECT_EQ(one, play(5)) << c.name;
    EXPECT_NE(one, play(6)) << c.name;
    EXPECT_NE(one, play(5, 1)) << c.name << ": lcores";
  }
}

}  // namespace
}  // namespace turnpike
