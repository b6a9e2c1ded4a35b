// SPDX-License-Identifier: BSD-3-Clause
// Tests every strategy on links whose prices react at once.
#include "sender/strategy/strategy.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/config/describe.h"

namespace turnpike::sender {
namespace {

/// Flows of one host, and other hosts' budgets, on links of given capacities. A link's price is the
/// sum of all budgets there divided by its capacity. The RTT is 20 ms, with ten ACKs per flow.
class Market {
 public:
  Market(std::string_view strategy, double budget)
      : strategy_(make_strategy(strategy, Budget(budget))) {}

  size_t link(double capacity, double others) {
    links_.push_back({capacity, others});
    return links_.size() - 1;
  }
  size_t flow(size_t link, Terms terms = {}) {
    Customer& c = flows_.emplace_back();
    c.terms = terms;
    c.link = link;
    c.member.terms = &c.terms;
    strategy_->join(c.member);
    return flows_.size() - 1;
  }
  void end(size_t i) {
    strategy_->leave(flows_[i].member);
    flows_[i].gone = true;
  }
  void run(Nanos time) {
    for (const Nanos end = now_ + time; now_ < end; now_ += 2_ms) {
      for (size_t i = 0; i < flows_.size(); ++i) {
        Customer& c = flows_[i];
        if (c.gone) continue;
        const double p = price(c.link);
        c.member.demand = c.demand;
        strategy_->update(c.member, rate(i), Price(p), 20_ms, now_);
        sum_within_budget();
      }
    }
  }
  double target(size_t i) const { return strategy_->target(flows_[i].member).count(); }
  double rate(size_t i) const {
    return std::min(target(i) / price(flows_[i].link), flows_[i].demand);
  }
  double price(size_t link) const {
    double spent = links_[link].others;
    for (size_t i = 0; i < flows_.size(); ++i) {
      if (!flows_[i].gone && flows_[i].link == link) spent += target(i);
    }
    return spent / links_[link].capacity;
  }
  void set_demand(size_t i, double rate) { flows_[i].demand = rate; }
  double sum() const {
    double sum = 0;
    for (size_t i = 0; i < flows_.size(); ++i) sum += flows_[i].gone ? 0 : target(i);
    return sum;
  }
  void set_others(size_t link, double others) { links_[link].others = others; }
  Strategy& strategy() { return *strategy_; }
  double budget = 0;  // $/s that no sum of targets may exceed; 0: do not check

 private:
  void sum_within_budget() const {
    if (budget > 0) {
      ASSERT_LE(sum(), budget * (1 + 1e-9));
    }
  }
  struct Link {
    double capacity, others;
  };
  struct Customer {
    Member member;
    Terms terms;
    size_t link = 0;
    double demand = std::numeric_limits<double>::infinity();
    bool gone = false;
  };
  std::unique_ptr<Strategy> strategy_;
  std::vector<Link> links_;
  std::deque<Customer> flows_;
  Nanos now_{0};
};

/// FCP, figure 14, in Mbps: two links, and a host with 2 $/s and one flow on each link.
struct Figure14 : Market {
  explicit Figure14(std::string_view strategy) : Market(strategy, 2) {
    budget = 2;
    flow(link(250, 1.5));
    flow(link(50, 0.5));
  }
};

TEST(Strategy, ByEveryNameOfTheConfiguration) {
  for (const std::string_view name : config::kStrategies)
    EXPECT_NE(make_strategy(name, Budget(1)), nullptr) << name;
  EXPECT_EQ(make_strategy("generous", Budget(1)), nullptr);
}

TEST(Strategy, BudgetIsDividedWhoeverComesAndGoes) {
  for (const std::string_view name :
       {"equal-budget", "max-min", "equal-throughput", "max-throughput"}) {
    Market m(name, 6);
    m.budget = 6;
    const size_t link = m.link(100, 1), other = m.link(10, 1);
    m.flow(link);
    m.run(1_s);
    m.flow(other, {.share = 2});
    EXPECT_NEAR(m.target(0), 2, 1e-9) << name;
    EXPECT_NEAR(m.target(1), 4, 1e-9) << name;
    m.run(1_s);
    m.flow(other);
    EXPECT_NEAR(m.target(2), 1.5, 1e-9) << name;
    EXPECT_NEAR(m.sum(), 6, 1e-9) << name;
    m.run(1_s);
    m.end(1);
    EXPECT_NEAR(m.sum(), 6, 1e-9) << name;
    m.end(0);
    EXPECT_NEAR(m.target(2), 6, 1e-9) << name;
    m.end(2);
    m.flow(link, {.share = 0.1});
    EXPECT_EQ(m.target(3), 6) << name << ": exactly, whatever the sums before";
  }
}

TEST(Strategy, BudgetThatChangesIsWhatAllDivide) {
  for (const std::string_view name : config::kStrategies) {
    Market m(name, 2);
    const size_t link = m.link(100, 1);
    m.flow(link);
    m.flow(link, {.hold = 3});
    m.flow(link, {.background = true});
    m.run(500_ms);
    const uint32_t version = m.strategy().version();
    m.budget = name == "each-flow" ? 3 : 1;
    m.strategy().set_budget(Budget(1));
    EXPECT_NE(m.strategy().version(), version);
    EXPECT_NEAR(m.target(2), 1e-4, 1e-12) << name;
    m.run(500_ms);
    if (name == "background") continue;
    EXPECT_NEAR(m.sum(), name == "each-flow" ? 2 + 1e-4 : 1, 1e-9) << name;
  }
}

TEST(Strategy, BackgroundFlowsTakeLittleHoweverMany) {
  Market m("equal-budget", 1);
  const size_t link = m.link(100, 1);
  m.flow(link);
  for (int i = 0; i < 100; ++i) m.flow(link, {.background = true});
  EXPECT_NEAR(m.target(1), 1e-4, 1e-15);
  EXPECT_NEAR(m.target(0), 0.99, 1e-12);
  for (int i = 0; i < 900; ++i) m.flow(link, {.background = true});
  EXPECT_NEAR(m.target(1), 1e-5, 1e-15);
  EXPECT_NEAR(m.target(0), 0.99, 1e-12);
  for (size_t i = 1; i <= 1000; ++i) m.end(i);
  EXPECT_EQ(m.target(0), 1);
}

TEST(Background, AHostOfItSpendsATenThousandth) {
  Market m("background", 2);
  const size_t link = m.link(100, 1);
  m.flow(link);
  m.flow(link, {.share = 3});
  EXPECT_NEAR(m.target(0), 0.5e-4, 1e-12);
  EXPECT_NEAR(m.sum(), 2e-4, 1e-12);
}

TEST(EachFlow, IsACustomerOfItsOwn) {
  Market m("each-flow", 2);
  const size_t link = m.link(100, 1);
  for (int i = 0; i < 3; ++i) m.flow(link);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(m.target(i), 2);
  EXPECT_FALSE(m.strategy().shared());
}

// 4 X^2 - 12 X + 3 = 0: X = 0.2753, and 38.77 Mbps each (FCP, figure 16).
TEST(MaxMin, AFlowThatNeedsLessLeavesTheRest) {
  Market m("max-min", 3);
  m.budget = 3;
  const size_t link = m.link(100, 1);
  m.flow(link);
  m.flow(link);
  m.flow(link);
  m.set_demand(0, 5);
  m.run(500_ms);
  EXPECT_NEAR(m.target(0), 5 * m.price(link), 0.01) << "what it spends";
  EXPECT_NEAR(m.target(1), m.target(2), 1e-9);
  EXPECT_NEAR(m.sum(), 3, 1e-9);
  m.set_demand(0, 0);
  m.run(500_ms);
  EXPECT_NEAR(m.target(0), 0.05, 1e-9) << "a twentieth of its share";
  m.set_demand(0, 1e9);
  m.run(50_ms);
  EXPECT_NEAR(m.target(0), 1, 1e-9) << "its share again within two round trips";
}

TEST(MaxMin, OutlivesATimeWithoutABudget) {
  Market m("max-min", 0);
  const size_t link = m.link(100, 1);
  m.flow(link);
  m.flow(link);
  m.run(100_ms);
  EXPECT_EQ(m.target(0), 0);
  m.strategy().set_budget(Budget(2));
  m.run(100_ms);
  EXPECT_NEAR(m.target(0), 1, 1e-9);
  EXPECT_NEAR(m.target(1), 1, 1e-9);
}

TEST(MaxMin, SharesAreWeights) {
  Market m("max-min", 4);
  const size_t link = m.link(100, 1);
  m.flow(link, {.share = 3});
  m.flow(link);
  m.run(500_ms);
  EXPECT_NEAR(m.target(0), 3, 1e-9);
  m.set_demand(0, 1);
  m.run(500_ms);
  EXPECT_NEAR(m.target(0), 0.15, 1e-6) << "its demand costs less";
  EXPECT_NEAR(m.target(1), 3.85, 1e-6);
}

/// For any needs of the flows, each has its need or an equal part of what remains, and all is
/// divided.
RC_GTEST_PROP(MaxMin, DividesAsANaiveSearchDoes, ()) {
  const auto shares = *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(1U, 9U));
  RC_PRE(!shares.empty() && shares.size() < 8);
  Market m("max-min", 1);
  const size_t link = m.link(100, 1);
  std::vector<double> demands;
  for (const unsigned share : shares) {
    const size_t flow = m.flow(link, {.share = static_cast<double>(share)});
    demands.push_back(*rc::gen::inRange(0U, 200U));
    m.set_demand(flow, demands.back());
  }
  m.run(100_ms);
  RC_ASSERT(std::abs(m.sum() - 1) < 1e-9);
  // The price is 0.02: all budgets of 2 by 100.
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  const auto need = [&](size_t i) { return std::max(0.02 * demands[i], 0.05 * shares[i] / sum); };
  const auto divided = [&](double level) {
    double all = 0;
    for (size_t i = 0; i < shares.size(); ++i) all += std::min(need(i), level * shares[i]);
    return all;
  };
  double low = 0, high = 1000;
  for (int i = 0; i < 200; ++i) {
    const double level = (low + high) / 2;
    (divided(level) < 1 ? low : high) = level;
  }
  const double all = divided(high);  // less than 1 where all have what they need
  for (size_t i = 0; i < shares.size(); ++i)
    RC_ASSERT(std::abs(m.target(i) - std::min(need(i), high * shares[i]) / all) < 1e-6);
}

TEST(EqualThroughput, Figure16) {
  Figure14 m("equal-throughput");
  m.run(2_s);
  EXPECT_NEAR(m.target(0), 0.2753, 1e-4);
  EXPECT_NEAR(m.rate(0), 38.77, 0.01);
  EXPECT_NEAR(m.rate(1), 38.77, 0.01);
}

TEST(EqualThroughput, GoesByShare) {
  Market m("equal-throughput", 2);
  m.flow(m.link(250, 1.5), {.share = 3});
  m.flow(m.link(50, 0.5));
  m.run(2_s);
  EXPECT_NEAR(m.rate(0) / m.rate(1), 3, 1e-3);
}

TEST(EqualThroughput, AnOutrunFlowComesBack) {
  Market m("equal-throughput", 2);
  const size_t idle = m.link(250, 0);
  m.flow(idle);  // alone on its link: 250 Mbps for any budget
  m.flow(m.link(50, 0.5));
  m.run(10_s);
  EXPECT_LT(m.target(0), 1e-5);
  EXPECT_GT(m.target(0), 0);
  m.set_others(idle, 1.5);
  m.run(2_s);
  EXPECT_NEAR(m.rate(0), m.rate(1), 0.01);
}

// The greatest sum is 151.59 Mbps at X = 1.68 (FCP, figure 18); the paper's ascent reaches 150.6.
TEST(MaxThroughput, Figure17) {
  Figure14 m("max-throughput");
  m.run(10_s);
  EXPECT_GT(m.rate(0) + m.rate(1), 0.99 * 151.59);
  EXPECT_GT(m.target(0), 1.5);
  EXPECT_LT(m.target(0), 1.85);
  const uint32_t version = m.strategy().version();
  m.run(10_s);
  EXPECT_EQ(m.strategy().version(), version) << "it rests";
}

TEST(MaxThroughput, GoesOnWhenAPriceMoves) {
  Figure14 m("max-throughput");
  m.run(10_s);
  m.set_others(0, 0.1);  // a small budget now buys most of the large link
  m.run(20_s);
  double best = 0;
  for (double x = 0.02; x < 1.98; x += 0.001)
    best = std::max(best, 250 * x / (x + 0.1) + 50 * (2 - x) / (2.5 - x));
  EXPECT_GT(m.rate(0) + m.rate(1), 0.99 * best);
}

TEST(MaxThroughput, LeavesEveryFlowAHundredth) {
  Market m("max-throughput", 1);
  m.budget = 1;
  m.flow(m.link(1000, 1));
  m.flow(m.link(1, 100));  // adds almost no throughput
  m.flow(m.link(1, 100));
  m.run(40_s);
  for (size_t i = 0; i < 3; ++i) EXPECT_GE(m.target(i), 0.01 * (1 - 1e-9));
  EXPECT_GT(m.target(0), 0.9);
}

TEST(Stability, HoldsARateAtAnyPrice) {
  Market m("stability", 4);
  m.budget = 4;
  const size_t link = m.link(100, 4);
  m.flow(link, {.hold = 20});
  for (int i = 0; i < 3; ++i) m.flow(link);
  m.run(1_s);
  EXPECT_NEAR(m.rate(0), 20, 0.01);
  m.set_others(link, 8);
  m.run(1_s);
  EXPECT_NEAR(m.rate(0), 20, 0.01);
  EXPECT_NEAR(m.target(0), 0.2 * 12, 0.01) << "of 12 $/s on the link";
  EXPECT_NEAR(m.sum(), 4, 1e-9);
  m.set_others(link, 2);
  m.run(1_s);
  EXPECT_NEAR(m.rate(0), 20, 0.01);
  EXPECT_NEAR(m.target(1), (4 - 0.2 * 6) / 3, 0.01) << "given back";
}

TEST(Stability, LeavesOthersATenthOfTheirs) {
  Market m("stability", 4);
  m.budget = 4;
  const size_t link = m.link(100, 100);
  m.flow(link, {.hold = 20});
  m.flow(link, {.hold = 40});
  m.flow(link);
  m.flow(link, {.share = 1});
  m.run(1_s);
  EXPECT_NEAR(m.target(2), 0.1, 1e-9);
  EXPECT_NEAR(m.target(3), 0.1, 1e-9);
  EXPECT_NEAR(m.target(1) / m.target(0), 2, 1e-9) << "both fall short by one factor";
  m.end(1);
  m.end(2);
  m.run(1_s);
  EXPECT_NEAR(m.sum(), 4, 1e-9);
}

TEST(Stability, WithNothingToHoldSharesEqually) {
  Market m("stability", 3);
  const size_t link = m.link(100, 1);
  m.flow(link);
  m.flow(link, {.share = 2});
  m.run(1_s);
  EXPECT_NEAR(m.target(0), 1, 1e-9);
  EXPECT_NEAR(m.target(1), 2, 1e-9);
}

}  // namespace
}  // namespace turnpike::sender
