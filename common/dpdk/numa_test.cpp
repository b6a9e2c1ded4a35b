// SPDX-License-Identifier: BSD-3-Clause
// Sockets of memory and ports; the test needs no machine with two.
#include "common/dpdk/numa.h"

#include <sched.h>

#include "tests/support/eal.h"

namespace turnpike {
namespace {

TEST(Home, IsWhereMostPortsAre) {
  const auto home = [](std::initializer_list<int> sockets) {
    return numa_node_of(std::span(sockets.begin(), sockets.size()));
  };
  EXPECT_EQ(home({1}), 1);
  EXPECT_EQ(home({0, 1, 1}), 1);
  EXPECT_EQ(home({1, 0, 0}), 0);
  EXPECT_EQ(home({1, 0}), 0) << "the same one each time";
  EXPECT_EQ(home({SOCKET_ID_ANY, SOCKET_ID_ANY, 1}), 1) << "virtual ports have no say";
  EXPECT_EQ(home({SOCKET_ID_ANY}), SOCKET_ID_ANY);
  EXPECT_EQ(home({}), SOCKET_ID_ANY);
}

TEST(Home, VirtualPortsAreAtNoSocket) {
  auto port = Port::attach(other_device("net_null7"));
  ASSERT_TRUE(port) << port.error();
  EXPECT_EQ(port->socket(), SOCKET_ID_ANY);
  EXPECT_EQ(numa_node_of(std::span(&*port, 1)), SOCKET_ID_ANY);
  EXPECT_EQ(remote_text("l", *port, 0), "") << "and so remote to no lcore";
  rte_mempool* const pool = testing::test_pool().get();
  ASSERT_TRUE(port->configure({}, {&pool, 1}));
  ASSERT_TRUE(port->start());
}

TEST(Home, AThreadStaysWhereNoWorkerIsThere) {
  const auto cpus = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return set;
  };
  const cpu_set_t before = cpus();
  for (const int socket : {SOCKET_ID_ANY, 1000}) {
    const ScopedNumaAffinity at_home(socket);
    const cpu_set_t now = cpus();
    EXPECT_TRUE(CPU_EQUAL(&before, &now)) << "no worker is at socket " << socket;
  }
}

}  // namespace
}  // namespace turnpike
