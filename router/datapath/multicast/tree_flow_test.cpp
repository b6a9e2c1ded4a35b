// SPDX-License-Identifier: BSD-3-Clause
// Joined answers against a model that keeps every packet of every branch in a set.
#include "router/datapath/multicast/tree_flow.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "common/units/instrumented.h"

namespace turnpike::router {
namespace {

using wire::Kind;

constexpr Nanos kTimeout = 1_s;

/// The answers of one receiver, as sender/receiver writes them.
struct Receiver {
  std::set<uint32_t> has;  // beyond expected
  uint32_t expected = 0;

  void take(uint32_t sequence) {
    if (sequence >= expected) has.insert(sequence);
    while (has.erase(expected) > 0) ++expected;
  }
  /// Ranges from the one of `sequence` downwards.
  [[nodiscard]] std::vector<wire::SeqRange> ranges(uint32_t sequence) const {
    std::vector<wire::SeqRange> all;
    for (const uint32_t s : has) {
      if (!all.empty() && all.back().end == s) {
        ++all.back().end;
      } else {
        all.push_back({s, s + 1});
      }
    }
    std::erase_if(all, [&](const wire::SeqRange& r) { return r.begin > sequence; });
    std::ranges::reverse(all);
    if (all.size() > wire::kMaxRanges) all.resize(wire::kMaxRanges);
    return all;
  }
};

class Tree {
 public:
  explicit Tree(unsigned branches) : receivers(branches), logs(branches), flow(branches) {
    flow.begin(7, Nanos(0));
  }

  /// Branch `b` gets the packet sent with this timestamp and answers.
  bool arrive(unsigned b, uint32_t sequence, uint32_t echo, float price = 1) {
    receivers[b].take(sequence);
    return answer(b, sequence, echo, price);
  }
  bool answer(unsigned b, uint32_t sequence, uint32_t echo, float price) {
    const auto ranges = receivers[b].ranges(sequence);
    return join(b, {.request = {7, sequence, static_cast<uint8_t>(Kind::kData)},
                    .kind = Kind::kAck,
                    .acknowledgement = receivers[b].expected,
                    .echo = echo,
                    .ranges = ranges,
                    .header = {price}});
  }
  bool join(unsigned b, const BranchReport& report) {
    return flow.join(b, report, upstream, logs, now, kTimeout, joined);
  }
  bool control(unsigned b, Kind answer, Kind request, uint32_t sequence, uint32_t echo,
               const fcp::BranchAnswer& header) {
    return join(b, {.request = {7, sequence, static_cast<uint8_t>(request)},
                    .kind = answer,
                    .acknowledgement = receivers[b].expected,
                    .echo = echo,
                    .ranges = {},
                    .header = header});
  }
  [[nodiscard]] bool all_have(uint32_t sequence) const {
    return std::ranges::all_of(receivers, [&](const Receiver& r) {
      return sequence < r.expected || r.has.contains(sequence);
    });
  }

  float upstream = 0.5F;
  Nanos now{1};
  std::vector<Receiver> receivers;
  std::vector<AnswerLog> logs;
  TreeFlow flow;
  JoinedAnswer joined;
};

TEST(TreeFlow, ARequestIsAnsweredWhenAllBranchesHave) {
  Tree t(3);
  EXPECT_FALSE(t.arrive(0, 0, 10, 1));
  EXPECT_FALSE(t.arrive(0, 1, 11, 1));
  EXPECT_FALSE(t.arrive(2, 0, 10, 2));
  EXPECT_TRUE(t.arrive(1, 0, 10, 4));
  EXPECT_EQ(t.joined.acknowledgement, 1U);
  EXPECT_EQ(t.joined.ranges, 0);
  EXPECT_FLOAT_EQ(t.joined.header.price, 0.5F + 1 + 2 + 4);
  EXPECT_FALSE(t.arrive(1, 1, 11, 8));
  EXPECT_TRUE(t.arrive(2, 1, 11, 16));
  EXPECT_EQ(t.joined.acknowledgement, 2U);
  EXPECT_FLOAT_EQ(t.joined.header.price, 0.5F + 1 + 8 + 16);
}

TEST(TreeFlow, FreeBranchesDoNotAddUp) {
  Tree t(3);
  t.upstream = 0;
  constexpr auto kFree = static_cast<float>(kMinPrice.count());
  t.arrive(0, 0, 1, kFree);
  t.arrive(1, 0, 1, kFree);
  EXPECT_TRUE(t.arrive(2, 0, 1, kFree));
  EXPECT_FLOAT_EQ(t.joined.header.price, kFree);
}

TEST(TreeFlow, HandshakesTakeTheTightestBounds) {
  Tree t(3);
  EXPECT_FALSE(t.control(0, Kind::kSynAck, Kind::kSyn, 0, 5, {1, 0, 30}));
  EXPECT_FALSE(t.control(1, Kind::kSynAck, Kind::kSyn, 0, 5, {1, 700, 10}));
  // A repeated SYN: all branches answer it again.
  EXPECT_FALSE(t.control(0, Kind::kSynAck, Kind::kSyn, 0, 6, {2, 0, 20}));
  EXPECT_FALSE(t.control(2, Kind::kSynAck, Kind::kSyn, 0, 6, {2, 900, 10}));
  EXPECT_TRUE(t.control(1, Kind::kSynAck, Kind::kSyn, 0, 6, {2, 800, 10}));
  EXPECT_FLOAT_EQ(t.joined.header.price, 6.5F);
  EXPECT_FLOAT_EQ(t.joined.header.reserve, 800);
  EXPECT_EQ(t.joined.header.age_ns, 20U);
  EXPECT_FALSE(t.flow.finished());
  t.arrive(0, 0, 10);
  t.arrive(1, 0, 10);
  EXPECT_TRUE(t.arrive(2, 0, 10));
  EXPECT_FALSE(t.control(0, Kind::kFinAck, Kind::kFin, 1, 20, {1}));
  EXPECT_FALSE(t.control(1, Kind::kFinAck, Kind::kFin, 1, 20, {1}));
  EXPECT_TRUE(t.control(2, Kind::kFinAck, Kind::kFin, 1, 20, {1}));
  EXPECT_EQ(t.joined.acknowledgement, 1U);
  EXPECT_TRUE(t.flow.finished());
}

TEST(TreeFlow, ALostPacketIsAnsweredAfterItsRepetition) {
  Tree t(2);
  for (uint32_t s = 0; s < 10; ++s) t.arrive(0, s, s + 1);
  EXPECT_TRUE(t.arrive(1, 0, 1));
  EXPECT_TRUE(t.arrive(1, 3, 4));  // 1 and 2 are lost
  EXPECT_EQ(t.joined.acknowledgement, 1U);
  ASSERT_EQ(t.joined.ranges, 1);
  EXPECT_EQ(t.joined.range[0].begin, 3U);
  EXPECT_EQ(t.joined.range[0].end, 4U);
  // The repetition of 1 reaches the branch that lacked it first: the sender knows the new
  // timestamp, so the answer must have it.
  EXPECT_FALSE(t.arrive(1, 1, 51));
  EXPECT_TRUE(t.arrive(0, 1, 51));
  EXPECT_EQ(t.joined.acknowledgement, 2U);
  EXPECT_FALSE(t.arrive(0, 2, 52));
  EXPECT_TRUE(t.arrive(1, 2, 52));
  EXPECT_EQ(t.joined.acknowledgement, 4U);
}

TEST(TreeFlow, ALostAnswerIsMadeUpForByTheNext) {
  Tree t(2);
  t.arrive(0, 0, 1);
  t.receivers[1].take(0);  // its answer is lost
  t.arrive(0, 1, 2);
  EXPECT_TRUE(t.arrive(1, 1, 2));
  EXPECT_EQ(t.joined.acknowledgement, 2U);
}

TEST(TreeFlow, ASilentBranchIsLeftOutUntilItAnswers) {
  Tree t(2);
  t.arrive(0, 0, 1);
  EXPECT_TRUE(t.arrive(1, 0, 1));
  t.now += 60_s;  // no packets: silence of the sender
  EXPECT_FALSE(t.arrive(0, 1, 2));
  t.now += kTimeout;
  EXPECT_FALSE(t.arrive(0, 2, 3));
  t.now += 1_ns;
  EXPECT_TRUE(t.arrive(0, 3, 4, 3));
  EXPECT_EQ(t.joined.acknowledgement, 4U);
  EXPECT_FLOAT_EQ(t.joined.header.price, 3.5F);
  EXPECT_TRUE(t.arrive(0, 4, 5));
  // Back again, without packets 1 to 3, which are not repeated.
  t.arrive(1, 4, 5);
  EXPECT_FALSE(t.arrive(1, 5, 6));
  EXPECT_TRUE(t.arrive(0, 5, 6));
  EXPECT_EQ(t.joined.acknowledgement, 6U);
}

TEST(TreeFlow, BranchesThatRefuseAreLeftOut) {
  Tree t(2);
  EXPECT_FALSE(t.flow.leave(1));
  EXPECT_TRUE(t.arrive(0, 0, 1));
  EXPECT_TRUE(t.flow.leave(0));
}

// Random delays, losses and repetitions. The sender repeats the packets that no answer has
// acknowledged.
TEST(TreeFlow, RandomRunsAcknowledgeNothingThatABranchLacks) {
  for (uint64_t seed = 1; seed <= (kInstrumented ? 3 : 60); ++seed) {
    std::mt19937_64 random(seed);
    const auto branches = static_cast<unsigned>(1 + random() % 4);
    const double loss = seed % 3 == 0 ? 0 : 0.1;
    const auto lost = [&] { return std::generate_canonical<double, 32>(random) < loss; };
    Tree t(branches);
    constexpr uint32_t kPackets = kInstrumented ? 1000 : 3000;
    std::set<uint32_t> acknowledged;
    uint32_t below = 0;                    // all lower sequence numbers are acknowledged
    std::map<uint32_t, unsigned> answers;  // by echo
    uint32_t echo = 0;
    std::multimap<uint64_t, std::tuple<unsigned, uint32_t, uint32_t>> events;  // by time
    uint64_t time = 0;
    const auto send = [&](uint32_t sequence) {
      ++echo;
      for (unsigned b = 0; b < branches; ++b)
        if (!lost()) events.emplace(time + 50 * b + random() % 20, std::tuple(b, sequence, echo));
    };
    const auto take = [&](uint32_t sequence, uint32_t of) {
      const auto covers = [&](uint32_t s) {
        EXPECT_TRUE(t.all_have(s)) << "seed " << seed << " packet " << s;
        acknowledged.insert(s);
      };
      covers(sequence);
      for (; below < t.joined.acknowledgement; ++below) covers(below);
      for (unsigned r = 0; r < t.joined.ranges; ++r)
        for (uint32_t s = t.joined.range[r].begin; s < t.joined.range[r].end; ++s) covers(s);
      ++answers[of];
    };
    const auto run = [&](uint64_t until) {
      while (!events.empty() && events.begin()->first <= until) {
        const auto [b, sequence, of] = events.begin()->second;
        events.erase(events.begin());
        t.now = Nanos(static_cast<int64_t>(time));
        t.receivers[b].take(sequence);
        if (lost()) continue;  // the answer
        if (t.answer(b, sequence, of, 1)) take(sequence, of);
      }
    };
    for (uint32_t s = 0; s < kPackets; ++s, ++time) {
      send(s);
      run(time);
    }
    for (int round = 0; round < 100 && acknowledged.size() < kPackets; ++round) {
      run(time += 1000);
      for (uint32_t s = 0; s < kPackets; ++s)
        if (!acknowledged.contains(s)) send(s);
    }
    EXPECT_EQ(acknowledged.size(), kPackets) << "seed " << seed;
    if (loss == 0) {
      EXPECT_EQ(answers.size(), kPackets);
      for (const auto& [of, count] : answers) EXPECT_EQ(count, 1U) << "answers to " << of;
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace turnpike::router
