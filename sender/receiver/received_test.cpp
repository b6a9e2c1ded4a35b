// SPDX-License-Identifier: BSD-3-Clause
// Tests ranges against a set of numbers, and the other small parts of a flow's state.
#include "sender/receiver/received.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "common/wire/serial.h"
#include "sender/connection/flow_table.h"
#include "sender/recovery/in_flight.h"
#include "sender/recovery/round_trip.h"

namespace turnpike::sender {
namespace {

/// The sequence numbers in the ranges, as a set.
std::set<uint64_t> beyond(const Received& r, const SackRangePool& pool) {
  std::set<uint64_t> all;
  uint64_t last = r.expected();
  for (uint32_t i = r.first_run(); i != kNoRange; i = pool[i].next) {
    EXPECT_GT(pool[i].begin, last) << "runs are in order and do not touch";
    EXPECT_LT(pool[i].begin, pool[i].end);
    last = pool[i].end;
    for (uint64_t s = pool[i].begin; s < pool[i].end; ++s) all.insert(s);
  }
  return all;
}

TEST(Received, AgreesWithASet) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const size_t room = 1 + random() % 12;
    const uint64_t span = 1 + random() % 60;
    SackRangePool pool(room);
    Received r;
    std::set<uint64_t> oracle;
    uint64_t expected = 0;
    for (int i = 0; i < 400; ++i) {
      const uint64_t s = expected + random() % span - std::min<uint64_t>(expected, random() % 5);
      uint32_t at = 0;
      const auto verdict = r.add(pool, s, at);
      const bool known = s < expected || oracle.contains(s);
      if (verdict == Received::AddResult::kRefused) {
        // Refused only if the packet needs a new range and none is left.
        ASSERT_FALSE(known);
        ASSERT_EQ(r.runs(), room);
        ASSERT_FALSE(s == expected || oracle.contains(s - 1) || oracle.contains(s + 1));
      } else {
        ASSERT_EQ(verdict == Received::AddResult::kDuplicate, known);
        if (!known) oracle.insert(s);
        while (oracle.erase(expected) > 0) ++expected;
        if (at != kNoRange) {
          ASSERT_LE(pool[at].begin, s);
          ASSERT_GT(pool[at].end, s);
        } else {
          ASSERT_LT(s, expected);
        }
      }
      ASSERT_EQ(r.expected(), expected);
      ASSERT_EQ(beyond(r, pool), oracle);
    }
    r.clear(pool);
    for (size_t i = 0; i < room; ++i) ASSERT_NE(pool.take(), kNoRange) << "every run came back";
    ASSERT_EQ(pool.take(), kNoRange);
  }
}

// With thousands of gaps, add() accepts new packets, reordered ones and retransmissions in order.
// It refuses a packet far from all these, so that no packet costs more steps.
TEST(Received, FindsWhatHonestSendersSendAmongThousandsOfGaps) {
  SackRangePool pool(Received::kMaxRuns);
  Received r;
  uint32_t at = 0;
  constexpr uint64_t kLast = 12'000;
  const auto add = [&](uint64_t s) { return r.add(pool, s, at) == Received::AddResult::kNew; };
  for (uint64_t s = 3; s < kLast; s += 3) {
    ASSERT_TRUE(add(s)) << s;
    if (s > 90 && s % 9 == 0) {
      ASSERT_TRUE(add(s - 88)) << "overtaken by 88 packets";
    }
  }
  EXPECT_FALSE(add(kLast / 2 + 1));
  for (uint64_t s = 0; s < kLast; ++s) {
    uint32_t run = kNoRange;
    ASSERT_NE(r.add(pool, s, run), Received::AddResult::kRefused) << s;
  }
  EXPECT_EQ(r.expected(), kLast);
  EXPECT_EQ(r.runs(), 0U);
}

// Each search that gives up leaves the next one less to search, also beside new packets.
TEST(Received, FindsAPacketThatIsSentAgainAndAgain) {
  SackRangePool pool(Received::kMaxRuns);
  Received r;
  uint32_t at = 0;
  uint64_t next = 1;
  for (; next < 12'000; next += 2) ASSERT_EQ(r.add(pool, next, at), Received::AddResult::kNew);
  for (const uint64_t wanted : {6000, 1000, 11'000, 4000, 4002, 4004}) {
    unsigned times = 0;
    while (r.add(pool, wanted, at) == Received::AddResult::kRefused) {
      ASSERT_LT(++times, Received::kMaxRuns / Received::kMaxSteps) << wanted;
      ASSERT_EQ(r.add(pool, next, at), Received::AddResult::kNew);
      ++next;  // in order
    }
  }
}

TEST(Received, OneFlowCannotTakeAllRuns) {
  SackRangePool pool(Received::kMaxRuns * 2);
  Received r;
  uint32_t at = 0;
  uint32_t kept = 0;
  for (uint64_t s = 1; s < Received::kMaxRuns * 4; s += 2) {
    kept += r.add(pool, s, at) == Received::AddResult::kNew;
  }
  EXPECT_EQ(kept, Received::kMaxRuns);
}

TEST(Serial, ExtendsAcrossTheWrap) {
  for (const uint64_t reference : {uint64_t{0}, uint64_t{5}, uint64_t{1} << 31,
                                   (uint64_t{1} << 32) - 1, (uint64_t{7} << 32) + 12345}) {
    for (const int64_t distance : {-2000000000L, -1L, 0L, 1L, 2000000000L}) {
      const uint64_t real = reference + static_cast<uint64_t>(distance);
      EXPECT_EQ(wire::extend_serial(static_cast<uint32_t>(real), reference), real);
    }
  }
  EXPECT_GE(wire::extend_serial(UINT32_MAX, 0), uint64_t{1} << 63) << "before zero is far away";
  EXPECT_TRUE(wire::serial_before(UINT32_MAX, 0));
  EXPECT_FALSE(wire::serial_before(0, UINT32_MAX));
}

TEST(Outstanding, ListsKeepOrderAndGiveRecordsBack) {
  RecordPool pool(3);
  RecordList list;
  uint32_t i[3];
  for (uint32_t& r : i) list.push_back(pool, r = pool.take());
  EXPECT_EQ(pool.take(), kNoRecord);
  EXPECT_EQ(pool.free(), 0U);
  list.remove(pool, i[1]);
  EXPECT_EQ(list.head(), i[0]);
  EXPECT_EQ(pool[i[0]].next, i[2]);
  list.remove(pool, i[0]);
  list.remove(pool, i[2]);
  EXPECT_TRUE(list.empty());
  for (const uint32_t r : i) pool.give_back(r);
  EXPECT_EQ(pool.free(), 3U);
}

TEST(FlowTable, AnOldIdNeverFindsANewFlow) {
  FlowTable table(3);
  std::set<uint32_t> seen;
  std::vector<Flow*> open;
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    if (table.full() || (!open.empty() && random() % 2 == 0)) {
      Flow* f = open[random() % open.size()];
      const uint32_t id = f->id;
      std::erase(open, f);
      table.close(*f);
      ASSERT_EQ(table.find(id), nullptr);
    } else {
      Flow* f = table.open();
      f->stage = Stage::kOpen;
      ASSERT_TRUE(seen.insert(f->id).second) << "ids do not repeat";
      open.push_back(f);
    }
    for (Flow* f : open) ASSERT_EQ(table.find(f->id), f);
    ASSERT_EQ(table.open_flows(), open.size());
  }
  EXPECT_EQ(table.find(3), nullptr);
}

TEST(FlowTable, KnowsWhoseATimerIsWithoutLookingAtIt) {
  FlowTable table(5);
  for (int i = 0; i < 5; ++i) {
    const Flow& flow = *table.open();
    EXPECT_EQ(&table.owner_of(&flow.timer), &flow);
    EXPECT_EQ(&table.owner_of(&flow.instance), &flow);
  }
}

TEST(FlowTable, WhatAPacketTouchesIsWhatIsFetchedForIt) {
  Flow flow;
  const auto at = [&](const auto& member) {
    return static_cast<size_t>(reinterpret_cast<const std::byte*>(&member) -
                               reinterpret_cast<const std::byte*>(&flow));
  };
  constexpr size_t kHot = Flow::kHotLines * Flow::kLine;
  EXPECT_EQ(at(flow.timer), 0U);
  EXPECT_LT(at(flow.rtt), at(flow.law_storage));
  EXPECT_EQ(at(flow.law_storage) + FlowLaw::kMaxBytes, kHot);
  EXPECT_EQ(at(flow.member), kHot);
}

TEST(FlowTable, OfOne) {
  FlowTable table(1);
  Flow* f = table.open();
  f->stage = Stage::kOpen;
  EXPECT_EQ(table.open(), nullptr);
  EXPECT_EQ(table.find(f->id), f);
  EXPECT_EQ(table.find(f->id + 1), nullptr);
}

TEST(RoundTrip, FollowsRfc6298) {
  RoundTrip r;
  EXPECT_EQ(r.timeout(0), 1_s);
  EXPECT_EQ(r.timeout(2), 4_s);
  r.sample(100_ms, 1_s);
  EXPECT_EQ(r.smoothed(), 100_ms);
  EXPECT_EQ(r.timeout(0), 300_ms);  // SRTT + 4 x SRTT / 2
  r.sample(180_ms, 1_s);
  EXPECT_EQ(r.smoothed(), 110_ms);
  EXPECT_EQ(r.timeout(0), Nanos(110'000'000 + 4 * 57'500'000));
  EXPECT_EQ(r.least(), 100_ms);
  EXPECT_EQ(r.latest(), 180_ms);
  EXPECT_EQ(r.reordering(), 25_ms) << "a queue does not widen the window";
  EXPECT_EQ(r.timeout(200), 60_s);
  for (int i = 0; i < 1000; ++i) r.sample(1_us, 2_s + 1_s * i);
  EXPECT_EQ(r.timeout(0), 200_ms);
  EXPECT_EQ(r.reordering(), 100_us);
}

// A window that leaves in one burst gives 100 samples within 20 ms, then none for 180 ms.
TEST(RoundTrip, AClumpOfSamplesForgetsNoVariation) {
  RoundTrip r;
  for (int trip = 0; trip < 50; ++trip)
    for (int i = 0; i < 100; ++i) r.sample(200_ms + 200_us * i, 1_s + 200_ms * trip + 200_us * i);
  EXPECT_GT(r.timeout(0), 250_ms) << "the next clump comes 180 ms after the last, later by a queue";
}

}  // namespace
}  // namespace turnpike::sender
