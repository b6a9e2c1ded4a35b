// SPDX-License-Identifier: BSD-3-Clause
// Theorem 1 of the paper: the law as a delayed fluid system, for the default gains.
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "common/protocols/xcp/params.h"

namespace turnpike::xcp {
namespace {

constexpr double kMaxAlpha = std::numbers::pi / 4 / std::numbers::sqrt2;

/// q' = y - C; y' = -(alpha/d) (y(t-d) - C) - (beta/d^2) q(t-d), beta = alpha^2 sqrt 2, by Euler's
/// method, starting with 20 % too much traffic. Returns the largest |y/C - 1| of the last tenth.
double deviation(double alpha, double beta, double d) {
  constexpr size_t kSteps = 200;  // in a delay
  constexpr size_t kDelays = 600;
  const double dt = d / kSteps;
  std::vector<double> y(kSteps + 1, 0.2), q(kSteps + 1, 0);  // less C, over C
  y.reserve(kSteps * kDelays);
  q.reserve(kSteps * kDelays);
  double greatest = 0;
  while (y.size() < kSteps * kDelays) {
    const size_t now = y.size() - 1, then = now - kSteps;
    q.push_back(q[now] + dt * y[now]);
    y.push_back(y[now] - dt * (alpha / d * y[then] + beta / (d * d) * q[then]));
    if (y.size() > kSteps * kDelays * 9 / 10) greatest = std::max(greatest, std::fabs(y.back()));
  }
  return greatest;
}

double beta_of(double alpha) { return alpha * alpha * std::numbers::sqrt2; }

TEST(XcpStability, OurGainsAreTheTheorems) {
  const double alpha = kLinkParams[kAlpha].fallback, beta = kLinkParams[kBeta].fallback;
  EXPECT_LT(alpha, kMaxAlpha);
  EXPECT_NEAR(beta, beta_of(alpha), 1e-3);
  for (const double d : {0.01, 0.08, 1.4}) EXPECT_LT(deviation(alpha, beta, d), 1e-6) << d;
}

TEST(XcpStability, BelowTheBoundItSettlesAndAboveItSwings) {
  for (const double d : {0.01, 1.4}) {
    EXPECT_LT(deviation(0.9 * kMaxAlpha, beta_of(0.9 * kMaxAlpha), d), 1e-3) << d;
    EXPECT_GT(deviation(1.1 * kMaxAlpha, beta_of(1.1 * kMaxAlpha), d), 1) << d;
  }
}

}  // namespace
}  // namespace turnpike::xcp
