// SPDX-License-Identifier: BSD-3-Clause
// Links whose ports have no carrier: packets are dropped and counted, prices stay.
#include <gtest/gtest.h>

#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

const Frame& to_narrow() {
  static const Frame kFrame =
      ethernet(kLeft, 0x0800, ipv4_datagram({.destination = "172.16.5.1"}, bytes(100)));
  return kFrame;
}

void arrive_many(World& w, int count, const Frame& frame) {
  for (int i = 0; i < count; ++i) w.arrive(kLeft, frame);
}

TEST(LinkDown, DropsPacketsForTheLinkAndForNoOther) {
  for (const size_t link : {size_t{kRight}, size_t{kNarrow}}) {
    World w;
    w.router().set_link_up(link, false);
    arrive_many(w, 40, plain(500));
    arrive_many(w, 40, to_narrow());
    w.run_until(w.now + 1_s);
    EXPECT_EQ(w.sent(link).size(), 0U);
    EXPECT_EQ(w.sent(link == kRight ? kNarrow : kRight).size(), 40U);
    EXPECT_EQ(w.drops(DropReason::kLinkDown), 40U);
    const LinkSnapshot s = w.snapshot().links[link];
    EXPECT_EQ(s.drops[static_cast<size_t>(DropReason::kLinkDown)], 40U) << "at the egress link";
    EXPECT_EQ(s.tx_packets, 0U);
    EXPECT_EQ(s.stamped, 0U);
  }
}

TEST(LinkDown, DropsPacketsThatWaitAndForwardsAgainAfterwards) {
  constexpr int kMany = 300;  // more than a poll drops
  config::Topology t = topology();
  t.links[kRight].directions[0].buffer = Bytes(1'000'000);
  World w(1, t);
  w.port(kRight).room = 0;
  w.port(kNarrow).room = 0;
  arrive_many(w, kMany, plain(500));
  arrive_many(w, 50, to_narrow());
  w.poll(w.now);
  EXPECT_EQ(w.snapshot().held, kMany + 50U);
  for (const size_t link : {size_t{kRight}, size_t{kNarrow}}) w.router().set_link_up(link, false);
  for (int i = 0; i < 4; ++i) w.poll(w.now + 1_us);
  EXPECT_EQ(w.snapshot().held, 0U);
  EXPECT_EQ(w.drops(DropReason::kLinkDown), kMany + 50U);

  for (const size_t link : {size_t{kRight}, size_t{kNarrow}}) {
    w.router().set_link_up(link, true);
    w.port(link).room = SIZE_MAX;
  }
  arrive_many(w, 10, plain(500));
  arrive_many(w, 10, to_narrow());
  w.run_until(w.now + 1_s);
  EXPECT_EQ(w.sent(kRight).size(), 10U);
  EXPECT_EQ(w.sent(kNarrow).size(), 10U);
}

TEST(LinkDown, DropsAtOnceWhatWaitsForItsTurnOnTheLink) {
  World w;
  arrive_many(w, 3, plain(500));
  Worker& worker = w.router().worker(0);
  const Nanos next = worker.poll(w.now);
  ASSERT_GT(next, w.now);
  EXPECT_EQ(w.snapshot().held, 2U);
  w.router().set_link_up(kRight, false);
  worker.poll(w.now);
  EXPECT_EQ(w.snapshot().held, 0U);
  EXPECT_EQ(w.drops(DropReason::kLinkDown), 2U);
}

TEST(LinkDown, KeepsThePromisesThatItsPriceFollowsFrom) {
  // A packet that promises a great deal of money; the price it causes is the same, or that of a
  // later time, whether or not the link goes down for a moment.
  const auto price_after = [](bool goes_down) {
    World w;
    w.arrive(kLeft, fcp({.preload = 100}));
    w.run_until(w.now + 5_ms);
    if (goes_down) {
      w.router().set_link_up(kRight, false);
      w.arrive(kLeft, fcp({}));
      w.run_until(w.now + 5_ms);
      w.router().set_link_up(kRight, true);
    } else {
      w.run_until(w.now + 5_ms);
    }
    w.sent(kRight);
    w.arrive(kLeft, fcp({}));
    w.poll(w.now);
    w.run_until(w.now + 10_ms);
    return price_of(w.only(kRight));
  };
  EXPECT_GT(price_after(false), 0);
  EXPECT_FLOAT_EQ(price_after(true), price_after(false));
}

}  // namespace
}  // namespace turnpike::router::test
