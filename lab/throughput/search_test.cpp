// SPDX-License-Identifier: BSD-3-Clause
// The search against simulated devices whose loss follows a known rule.
#include "lab/throughput/search.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace turnpike::lab {
namespace {

/// A device that carries up to a share and loses the rest.
TryRate carries(double share, int& trials) {
  return [share, &trials](double at) -> tl::expected<Point, std::string> {
    ++trials;
    return Point{at, std::max(0.0, 1 - share / at), true};
  };
}

TEST(Search, FindsWhatADeviceCarries) {
  for (const double share : {0.9, 0.5, 0.3141, 0.02}) {
    std::vector<Point> known;
    int trials = 0;
    const auto found = find_rate(0, 1, 0.01, known, carries(share, trials));
    ASSERT_TRUE(found);
    EXPECT_LE(found->share, share);
    EXPECT_GE(found->share, share * 0.989);
    EXPECT_FALSE(found->limited);
    EXPECT_LE(trials, 14);
  }
}

TEST(Search, TakesABoundedNumberOfTrials) {
  for (const double share : {0.0, 0.9e-4, 1.01e-4, 1.3e-4, 1.99e-4, 0.0101, 0.4999}) {
    std::vector<Point> known;
    int trials = 0;
    ASSERT_TRUE(find_rate(0, 1, 0.01, known, carries(share, trials)));
    EXPECT_LE(trials, 22) << share;
  }
}

TEST(Search, OneTrialWhereTheTopPasses) {
  std::vector<Point> known;
  int trials = 0;
  EXPECT_EQ(find_rate(0, 0.7, 0.01, known, carries(0.8, trials))->share, 0.7);
  EXPECT_EQ(trials, 1);
}

TEST(Search, ALaterGoalUsesWhatIsKnown) {
  std::vector<Point> known;
  int first = 0, both = 0;
  ASSERT_TRUE(find_rate(0, 1, 0.001, known, carries(0.5, first)));
  both = first;
  const auto found = find_rate(0.1, 1, 0.001, known, carries(0.5, both));
  EXPECT_NEAR(found->share, 0.5 / 0.9, 0.001);
  EXPECT_LT(both - first, first);
}

TEST(Search, NothingPasses) {
  std::vector<Point> known;
  int trials = 0;
  EXPECT_EQ(find_rate(0, 1, 0.01, known, carries(0, trials))->share, 0);
}

TEST(Search, InvalidTrialsBoundNothing) {
  std::vector<Point> known;
  const auto found =
      find_rate(0, 1, 0.01, known, [](double at) -> tl::expected<Point, std::string> {
        return Point{at, at > 0.25 ? 0.5 : 0.0, at <= 0.25};
      });
  EXPECT_NEAR(found->share, 0.25, 0.0026);
  EXPECT_TRUE(found->limited);
}

TEST(Search, ATrialThatCannotBePlayedEndsIt) {
  std::vector<Point> known;
  const auto found = find_rate(0, 1, 0.01, known, [](double) -> tl::expected<Point, std::string> {
    return tl::unexpected(std::string("no port"));
  });
  EXPECT_EQ(found.error(), "no port");
}

}  // namespace
}  // namespace turnpike::lab
