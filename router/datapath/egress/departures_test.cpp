// SPDX-License-Identifier: BSD-3-Clause
// A worker reports that its packets have left only when they have.
#include "router/datapath/egress/departures.h"

#include <gtest/gtest.h>

#include "common/dpdk/rss_steering.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

RouterOptions steered(RssSteering& by) {
  RouterOptions options;
  options.steering = &by;
  return options;
}

/// Worker 0 has received all that it had to before a bucket moves from it to worker 1. One packet
/// waits for the line-rate port of link kNarrow, which takes none.
class Leaving : public ::testing::Test {
 protected:
  void begin(uint32_t tx_descriptors, Nanos tx_time) {
    const unsigned port = steering.add_port(16, 2);
    const auto rx = [&](uint16_t queue) {
      std::array<rte_mbuf*, 4> out;
      steering.rx(port, queue, now, out, [](std::span<rte_mbuf*>) { return uint16_t{0}; });
    };
    world.port(kNarrow, 0).room = 0;
    forward();
    steering.begin({.port = port,
                    .from = 0,
                    .to = 1,
                    .buckets = {1},
                    .rx_descriptors = 8,
                    .tx_descriptors = tx_descriptors,
                    .tx_time = tx_time});
    rx(1);
    steering.table_written(now);
    now += RssSteering::kTableDelay;
    rx(0);
    EXPECT_TRUE(steering.leaving(0));
  }
  void forward() {
    world.arrive(kLeft, v4({.destination = "172.16.5.1"}), 0);
    world.poll(now);
  }
  void forward_to_left() {
    world.arrive(kNarrow,
                 ethernet(kNarrow, 0x0800,
                          ipv4_datagram({.source = "10.0.3.2", .destination = "10.0.1.2"},
                                        udp(1, 2, bytes(30)))),
                 0);
    world.poll(now);
  }
  /// Whether the worker has reported by the end of a poll so much later.
  bool left_after(Nanos time) {
    now += time;
    world.poll(now);
    return !steering.leaving(0);
  }

  RssSteering steering;
  World world{2, topology(), steered(steering)};
  Nanos now = world.now;
};

TEST_F(Leaving, WaitsForThePortThenForTheTimeOfItsRing) {
  begin(1000, 100_us);
  EXPECT_FALSE(left_after(1_ms)) << "the port has not taken the packet";
  world.port(kNarrow, 0).room = SIZE_MAX;
  EXPECT_FALSE(left_after(1_us));
  EXPECT_FALSE(left_after(99_us));
  EXPECT_TRUE(left_after(1_us));
  EXPECT_EQ(steering.last_left(), now);
}

TEST_F(Leaving, OrUntilTheRingHasTakenAsManyAgain) {
  begin(2, 1_s);
  world.port(kNarrow, 0).room = SIZE_MAX;
  EXPECT_FALSE(left_after(1_us));
  forward_to_left();
  forward_to_left();
  forward();
  EXPECT_FALSE(left_after(1_us)) << "one packet at link kNarrow";
  forward();
  EXPECT_TRUE(left_after(1_us));
}

TEST_F(Leaving, DoesNotWaitForALinkThatIsDown) {
  begin(1000, 100_us);
  EXPECT_FALSE(left_after(1_ms));
  world.router().set_link_up(kNarrow, false);
  EXPECT_TRUE(left_after(100_us));
}

TEST_F(Leaving, DoesNotWaitForEver) {
  begin(1000, 100_us);
  EXPECT_FALSE(left_after(1_us));
  EXPECT_FALSE(left_after(Departures::kMax - 1_us));
  EXPECT_TRUE(left_after(1_us));
}

}  // namespace
}  // namespace turnpike::router::test
