// SPDX-License-Identifier: BSD-3-Clause
// Which ports a worker receives from.
#include "router/datapath/worker.h"

#include <gtest/gtest.h>

#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

TEST(Worker, DoesNotReceiveBeforeThePortsNextArrival) {
  World w;
  MemoryPort& port = w.port(kLeft);
  w.arrive(kLeft, plain(500));
  port.arrival = w.now + 5_us;
  Worker& worker = w.router().worker(0);
  EXPECT_LE(worker.poll(w.now), port.arrival);
  EXPECT_EQ(port.in.size(), 1U);
  worker.poll(port.arrival - 1_ns);
  EXPECT_EQ(port.in.size(), 1U);
  worker.poll(port.arrival);
  EXPECT_EQ(port.in.size(), 0U);
  EXPECT_EQ(w.sent(kRight).size(), 1U);
}

}  // namespace
}  // namespace turnpike::router::test
