// SPDX-License-Identifier: BSD-3-Clause
// Tests due times: against constants for simple rates, against a sum for mixed sizes.
#include "sender/open_loop/constant_rate.h"

#include <gtest/gtest.h>

namespace turnpike::sender {
namespace {

config::Stream stream(config::StreamRate rate, std::vector<Bytes> frames = {Bytes(64)}) {
  config::Stream s;
  s.rate = rate;
  s.frames = std::move(frames);
  return s;
}

config::Direction gigabit(int64_t overhead = 0) {
  config::Direction d;
  d.rate = 1_Gbps;
  d.overhead = Bytes(overhead);
  return d;
}
const config::Direction kLine = gigabit();

TEST(ConstantRate, PacketsPerSecond) {
  ConstantRate c(stream(config::PacketRate{1e6}), kLine);
  for (int64_t n = 0; n < 1000; ++n, c.advance()) {
    EXPECT_EQ(c.due(), Nanos(1000 * n));
    EXPECT_EQ(c.datagram(), 46U);
  }
}

TEST(ConstantRate, BitRatesCountTheirLayers) {
  // 64 B at 1 Gbit/s: 512 ns as a frame, 672 ns on the line, 368 ns as a datagram.
  EXPECT_NEAR(ConstantRate(stream(config::L2Rate{1_Gbps}), kLine).packets_per_second(), 1e9 / 512,
              1e-3);
  EXPECT_NEAR(ConstantRate(stream(config::L1Rate{1_Gbps}), kLine).packets_per_second(), 1e9 / 672,
              1e-3);
  EXPECT_NEAR(ConstantRate(stream(config::LineShare{1}), kLine).packets_per_second(), 1e9 / 368,
              1e-3);
  // Where the link's overhead is Ethernet's 38 B, a share of the line is that share of the L1 rate.
  const config::Direction ethernet = gigabit(38);
  EXPECT_NEAR(ConstantRate(stream(config::LineShare{0.5}), ethernet).packets_per_second(),
              5e8 / 672, 1e-3);
}

TEST(ConstantRate, MixedSizesNeverDrift) {
  ConstantRate c(stream(config::L2Rate{999_Mbps}, {Bytes(64), Bytes(1518), Bytes(594)}), kLine);
  double bits = 0;
  for (int n = 0; n < 100'000; ++n, c.advance()) {
    EXPECT_NEAR(static_cast<double>(c.due().count()), bits / 0.999, 1.001) << n;
    bits += 8.0 * (c.datagram() + 18);
  }
}

TEST(ConstantRate, CountsWhatIsDue) {
  ConstantRate c(stream(config::L2Rate{777_Mbps}, {Bytes(64), Bytes(1518)}), kLine);
  for (uint64_t n = 0; n < 10'000; ++n, c.advance()) {
    EXPECT_EQ(c.number(), n);
    EXPECT_EQ(c.due_before(c.due()), n);
    EXPECT_EQ(c.due_before(c.due() + Nanos(1)), n + 1);
  }
}

TEST(ConstantRate, SkipsToATime) {
  ConstantRate c(stream(config::PacketRate{1e6}), kLine);
  EXPECT_EQ(c.skip_to(10'500_ns), 11U);
  EXPECT_EQ(c.due(), 11'000_ns);
  EXPECT_EQ(c.skip_to(11'000_ns), 0U);
  EXPECT_EQ(c.skip_to(5'000_ns), 0U) << "never back";
  EXPECT_EQ(c.number(), 11U);
}

TEST(ConstantRate, StartsWhenItShould) {
  config::Stream s = stream(config::PacketRate{1e3});
  s.start = 5_ms;
  const ConstantRate c(s, kLine);
  EXPECT_EQ(c.due(), 5_ms);
  EXPECT_EQ(c.due_before(5_ms), 0U);
  EXPECT_EQ(c.due_before(7_ms), 2U);
}

}  // namespace
}  // namespace turnpike::sender
