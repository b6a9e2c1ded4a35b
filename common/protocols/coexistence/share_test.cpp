// SPDX-License-Identifier: BSD-3-Clause
// TCP's throughput equation, and the equilibrium of the shares of two kinds of flows.
#include "common/protocols/coexistence/share.h"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "common/protocols/coexistence/params.h"

namespace turnpike::coexistence {
namespace {

TEST(TcpWindow, IsTheSquareRootLawWhereLittleIsLost) {
  // Without time-outs, sqrt(3/2) / sqrt(p): the saw between W/2 and W loses one in 3/8 W^2.
  EXPECT_NEAR(tcp_window(1e-6) / std::sqrt(1.5 / 1e-6), 1, 1e-5);
  EXPECT_NEAR(tcp_window(1e-4) / std::sqrt(1.5 / 1e-4), 1, 1e-3);
}

TEST(TcpWindow, TimeOutsTakeMoreTheMoreIsLost) {
  // By hand: sqrt(0.02/3) = 0.081650, 12 * 0.01 * sqrt(0.00375) * 1.0032 = 0.0073720.
  EXPECT_NEAR(tcp_window(0.01), 1 / (0.081650 + 0.0073720), 1e-4);
  // sqrt(0.2/3) = 0.258199, 12 * 0.1 * sqrt(0.0375) * 1.32 = 0.306741.
  EXPECT_NEAR(tcp_window(0.1), 1 / (0.258199 + 0.306741), 1e-4);
}

TEST(Share, StaysWhereWindowsAreAlikeAndNeverLeavesAnybodyWithNothing) {
  Share share(0.1);
  for (int i = 0; i < 10; ++i) share.step(5000, 5000);
  EXPECT_EQ(share.tcp(), 0.5);
  share.step(3000, 1000);
  EXPECT_NEAR(share.tcp(), 0.5 + 0.1 * 2000 / 4000, 1e-12);
  for (int i = 0; i < 100; ++i) share.step(1e6, 1);
  EXPECT_NEAR(share.own(), Share::kMin, 1e-12);
  for (int i = 0; i < 100; ++i) share.step(1, 1e6);
  EXPECT_NEAR(share.tcp(), Share::kMin, 1e-12);
}

/// The loss at which TCP's flows have windows of `packets`.
double loss_for(double packets) {
  double low = 1e-9, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (tcp_window(middle) > packets ? low : high) = middle;
  }
  return low;
}

// Flows as fluid: the flows of a queue divide its share among themselves; TCP's loss is the one
// that gives their windows.
TEST(Share, ComesToTheNumbersOfFlowsWhateverTheyAre) {
  constexpr double kPipe = 225;  // packets
  for (const auto& [tcp, own] : {std::pair{3, 30}, {15, 30}, {30, 30}, {30, 3}, {1, 60}}) {
    Share share(kParams[kKappa].fallback);
    for (int i = 0; i < 3000; ++i)
      share.step(share.own() * kPipe / own, tcp_window(loss_for(share.tcp() * kPipe / tcp)));
    EXPECT_NEAR(share.tcp() / (tcp / static_cast<double>(tcp + own)), 1, 0.01) << tcp << ' ' << own;
  }
}

}  // namespace
}  // namespace turnpike::coexistence
