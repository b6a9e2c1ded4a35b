// SPDX-License-Identifier: BSD-3-Clause
// The ring queue pairs, and the delay line on them against a list of arrival times.
#include "common/dpdk/delay_line.h"

#include <array>
#include <deque>
#include <random>

#include <gtest/gtest.h>

#include "common/dpdk/ring_queue.h"
#include "tests/support/eal.h"

namespace turnpike {
namespace {

using testing::bytes_of;
using testing::make_mbuf;
using testing::test_pool;

rte_mbuf* numbered(uint32_t n) {
  std::array<uint8_t, sizeof n> bytes;
  std::memcpy(bytes.data(), &n, sizeof n);
  return make_mbuf(bytes);
}

/// Takes all packets that arrive at `now`; their numbers in order.
std::vector<uint32_t> receive(QueuePair& queue, Nanos now, size_t burst = 7) {
  std::vector<uint32_t> numbers;
  std::vector<rte_mbuf*> out(burst);
  while (const uint16_t n = queue.rx(now, out)) {
    for (uint16_t i = 0; i < n; ++i) {
      uint32_t number = 0;
      std::memcpy(&number, bytes_of(out[i]).data(), sizeof number);
      numbers.push_back(number);
      rte_pktmbuf_free(out[i]);
    }
  }
  return numbers;
}

void send(QueuePair& queue, Nanos now, uint32_t number) {
  rte_mbuf* m = numbered(number);
  ASSERT_EQ(queue.tx(now, {&m, 1}), 1);
}

using Numbers = std::vector<uint32_t>;

TEST(RingCable, CarriesBothWaysInOrder) {
  auto cable = RingCable::create("cable", 16);
  ASSERT_TRUE(cable) << cable.error();
  for (uint32_t i = 0; i < 10; ++i) send(cable->end(0), 0_ns, i);
  for (uint32_t i = 20; i < 25; ++i) send(cable->end(1), 0_ns, i);
  EXPECT_EQ(cable->inside(), 15U);
  EXPECT_EQ(cable->end(1).next_deadline(), 0_ns);
  EXPECT_EQ(receive(cable->end(1), 0_ns), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(receive(cable->end(0), 0_ns), (Numbers{20, 21, 22, 23, 24}));
  EXPECT_EQ(cable->end(1).next_deadline(), kNever);
}

TEST(RingCable, TakesExactlyItsCapacityAndLeavesTheRest) {
  auto cable = RingCable::create("cable", 16);
  ASSERT_TRUE(cable);
  std::array<rte_mbuf*, 20> burst;
  for (uint32_t i = 0; i < burst.size(); ++i) burst[i] = numbered(i);
  EXPECT_EQ(cable->end(0).tx(0_ns, burst), 16);
  rte_pktmbuf_free_bulk(burst.data() + 16, 4);
  EXPECT_EQ(test_pool().in_use(), 16U);
  cable = RingCable::create("cable", 16);  // destroys the first one and its packets
  EXPECT_EQ(test_pool().in_use(), 0U);
}

TEST(DelayLine, DelaysEachDirectionByItsOwnTime) {
  auto cable = RingCable::create("cable", 64);
  ASSERT_TRUE(cable);
  DelayLine line(cable->end(0), {.rx_delay = 10_us, .tx_delay = 30_us, .capacity = 8});
  RingQueue& far = cable->end(1);

  send(line, 1_us, 1);
  EXPECT_EQ(line.next_deadline(), 31_us);
  EXPECT_EQ(line.held(), 1U);
  EXPECT_EQ(receive(line, 30999_ns), Numbers{});
  EXPECT_EQ(receive(far, 30999_ns), Numbers{});
  EXPECT_EQ(receive(line, 31_us), Numbers{});  // only a poll moves the packet on
  EXPECT_EQ(receive(far, 31_us), Numbers{1});
  EXPECT_EQ(line.held(), 0U);
  EXPECT_EQ(line.next_deadline(), kNever);

  send(far, 40_us, 2);
  EXPECT_LE(line.next_deadline(), 40_us);      // a packet waits in the ring
  EXPECT_EQ(receive(line, 40_us), Numbers{});  // time-stamped by this poll
  EXPECT_EQ(line.next_deadline(), 50_us);
  EXPECT_EQ(receive(line, 49999_ns), Numbers{});
  EXPECT_EQ(receive(line, 50_us), Numbers{2});
}

TEST(DelayLine, OfNoLengthPassesThrough) {
  auto cable = RingCable::create("cable", 64);
  ASSERT_TRUE(cable);
  DelayLine line(cable->end(0), {.capacity = 4});
  send(line, 5_ns, 1);
  EXPECT_EQ(receive(cable->end(1), 5_ns), Numbers{1});
  send(cable->end(1), 5_ns, 2);
  EXPECT_EQ(receive(line, 5_ns), Numbers{2});
}

TEST(DelayLine, WhatFindsNoRoomIsFreedAndCounted) {
  auto cable = RingCable::create("cable", 64);
  ASSERT_TRUE(cable);
  DelayLine line(cable->end(0), {.rx_delay = 1_us, .tx_delay = 1_us, .capacity = 3});
  for (uint32_t i = 0; i < 5; ++i) send(line, 0_ns, i);
  for (uint32_t i = 10; i < 16; ++i) send(cable->end(1), 0_ns, i);
  EXPECT_EQ(receive(line, 0_ns), Numbers{});
  EXPECT_EQ(line.overflowed(), 5U);
  EXPECT_EQ(line.held(), 6U);
  EXPECT_EQ(test_pool().in_use(), 6U);
  EXPECT_EQ(receive(line, 1_us), (Numbers{10, 11, 12}));
  EXPECT_EQ(receive(cable->end(1), 1_us), (Numbers{0, 1, 2}));
}

TEST(DelayLine, WaitsForAPortThatIsFullAndLosesNothing) {
  auto cable = RingCable::create("cable", 2);
  ASSERT_TRUE(cable);
  DelayLine line(cable->end(0), {.tx_delay = 1_us, .capacity = 8});
  for (uint32_t i = 0; i < 6; ++i) send(line, 0_ns, i);
  Numbers all;
  for (int poll = 0; poll < 3; ++poll) {
    EXPECT_EQ(receive(line, 2_us), Numbers{});
    EXPECT_EQ(line.next_deadline(), poll < 2 ? 1_us : kNever);  // overdue until all are sent
    for (const uint32_t n : receive(cable->end(1), 2_us)) all.push_back(n);
  }
  EXPECT_EQ(all, (Numbers{0, 1, 2, 3, 4, 5}));
}

TEST(DelayLine, TakesNothingWhileItsPortIsFull) {
  auto cable = RingCable::create("cable", 2);
  ASSERT_TRUE(cable);
  DelayLine line(cable->end(0), {.tx_delay = 1_us, .capacity = 8});
  for (uint32_t i = 0; i < 3; ++i) send(line, 0_ns, i);
  rte_mbuf* packet = numbered(3);
  EXPECT_EQ(line.tx(1_us, {&packet, 1}), 0U);
  EXPECT_EQ(receive(cable->end(1), 1_us), (Numbers{0, 1}));
  EXPECT_EQ(line.tx(1_us, {&packet, 1}), 1U);
  EXPECT_EQ(receive(line, 2_us), Numbers{});
  EXPECT_EQ(receive(cable->end(1), 2_us), (Numbers{2, 3}));
  EXPECT_EQ(line.overflowed(), 0U);
}

TEST(DelayLine, FreesWhatIsUnderWayWhenItGoes) {
  auto cable = RingCable::create("cable", 64);
  ASSERT_TRUE(cable);
  {
    DelayLine line(cable->end(0), {.rx_delay = 1_us, .tx_delay = 1_us, .capacity = 8});
    send(line, 0_ns, 1);
    send(cable->end(1), 0_ns, 2);
    receive(line, 0_ns);
    EXPECT_EQ(test_pool().in_use(), 2U);
  }
  EXPECT_EQ(test_pool().in_use(), 0U);
}

TEST(DelayLine, AgreesWithAListOfArrivalTimesUnderRandomPolling) {
  std::mt19937_64 random(1);
  for (int run = 0; run < 100; ++run) {
    auto cable = RingCable::create("cable", 1024);
    ASSERT_TRUE(cable);
    const Nanos rx_delay(static_cast<int64_t>(random() % 100));
    const Nanos tx_delay(static_cast<int64_t>(random() % 100));
    DelayLine line(cable->end(0), {.rx_delay = rx_delay, .tx_delay = tx_delay, .capacity = 1000});
    std::deque<std::pair<Nanos, uint32_t>> towards, away;  // arrival time, number
    Nanos now{0};
    uint32_t next = 0;
    for (int step = 0; step < 300; ++step) {
      now += Nanos(static_cast<int64_t>(random() % 20));
      if (random() % 2 == 0) {
        send(line, now, next);
        away.emplace_back(now + tx_delay, next++);
      }
      if (random() % 2 == 0) {
        send(cable->end(1), now, next);
        towards.emplace_back(now + rx_delay, next++);
      }
      // Every poll receives from the port, so a packet just sent is time-stamped now.
      const auto arrived = [now](auto& list) {
        Numbers numbers;
        for (; !list.empty() && list.front().first <= now; list.pop_front()) {
          numbers.push_back(list.front().second);
        }
        return numbers;
      };
      ASSERT_EQ(receive(line, now, 1 + random() % 5), arrived(towards));
      ASSERT_EQ(receive(cable->end(1), now), arrived(away));
      ASSERT_EQ(line.held(), towards.size() + away.size());
      const Nanos first_in = towards.empty() ? kNever : towards.front().first;
      const Nanos first_out = away.empty() ? kNever : away.front().first;
      ASSERT_EQ(line.next_deadline(), std::min(first_in, first_out));
    }
  }
}

}  // namespace
}  // namespace turnpike
