// SPDX-License-Identifier: BSD-3-Clause
// The punt thread between rings and a TAP interface, in a network namespace of the test's own.
#include "router/linux/punt_thread.h"

#include <chrono>
#include <ctime>
#include <functional>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "common/config/address.h"
#include "tests/support/eal.h"
#include "tests/support/network_namespace.h"

namespace turnpike::router {
namespace {

using Frame = std::vector<uint8_t>;

const TapOptions kOptions{.name = "tp0", .mac = {2, 0, 0, 0, 0, 1}, .mtu = 9000};

Frame frame(size_t size, uint8_t seed) {
  Frame f(size, seed);
  const Frame head{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x12, 0x34};  // an experimental EtherType
  std::copy(head.begin(), head.end(), f.begin());
  return f;
}

/// A socket that sees all frames of the interface, as Linux does.
File packet_socket(unsigned index) {
  File s(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL)));
  sockaddr_ll at{};
  at.sll_family = AF_PACKET;
  at.sll_protocol = htons(ETH_P_ALL);
  at.sll_ifindex = static_cast<int>(index);
  EXPECT_EQ(bind(s.fd(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  timeval patience{5, 0};
  setsockopt(s.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return s;
}

/// The next frame of the test's EtherType.
Frame received(const File& s) {
  Frame f(10'000);
  for (;;) {
    const ssize_t n = recv(s.fd(), f.data(), f.size(), 0);
    if (n < 0) return {};
    if (n > 13 && f[12] == 0x12 && f[13] == 0x34) return {f.begin(), f.begin() + n};
  }
}

bool until(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

TEST(Tap, IsAsAskedFor) {
  IN_NEW_NAMESPACE([] {
    auto tap = Tap::open(kOptions);
    ASSERT_TRUE(tap) << tap.error();
    EXPECT_EQ(tap->index(), if_nametoindex("tp0"));
    const File s(socket(AF_INET, SOCK_DGRAM, 0));
    ifreq r{};
    std::strcpy(r.ifr_name, "tp0");
    ASSERT_EQ(ioctl(s.fd(), SIOCGIFMTU, &r), 0);
    EXPECT_EQ(r.ifr_mtu, 9000);
    ASSERT_EQ(ioctl(s.fd(), SIOCGIFHWADDR, &r), 0);
    EXPECT_EQ(r.ifr_hwaddr.sa_data[5], 1);
    for (const bool up : {false, true}) {
      tap->set_carrier(up);
      EXPECT_EQ(tap->carrier(), up);
      // The kernel changes the flag a little later.
      EXPECT_TRUE(until([&] {
        return ioctl(s.fd(), SIOCGIFFLAGS, &r) == 0 && ((r.ifr_flags & IFF_RUNNING) != 0) == up;
      }));
    }
    const auto second = Tap::open(kOptions);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().find("interface 'tp0'"), std::string::npos) << second.error();
    EXPECT_NE(second.error().find("another interface has this name"), std::string::npos);
  });
}

TEST(Tap, ErrorsSayWhatHelps) {
  TapOptions elsewhere = kOptions;
  elsewhere.network_namespace = "no-such-namespace";
  const auto tap = Tap::open(elsewhere);
  ASSERT_FALSE(tap);
  EXPECT_NE(tap.error().find("ip netns add no-such-namespace"), std::string::npos) << tap.error();
}

/// A TAP, its queues and its thread.
struct Served {
  Tap tap;
  std::unique_ptr<PuntPath> path;
  std::unique_ptr<PuntThread> thread;

  Served() : tap(std::move(*Tap::open(kOptions))) {
    tap.set_carrier(true);
    path = PuntPath::make({.interfaces = {"tp0"}}, 1, 1, -1);
    thread = std::make_unique<PuntThread>(*path,
                                          std::vector<PuntThread::Link>{{.tap = &tap, .owner = 0}},
                                          testing::test_pool().get());
    EXPECT_TRUE(thread->start());
  }
  void punt(const Frame& f, size_t segment) {
    rte_mbuf* m = testing::make_mbuf(f, segment);
    m->port = 0;
    path->shard(0).punted[0].add();
    EXPECT_TRUE(path->shard(0).to_linux->push(m));
  }
};

TEST(PuntThread, WritesFramesOfAnyNumberOfSegments) {
  IN_NEW_NAMESPACE([] {
    Served s;
    const File linux_side = packet_socket(s.tap.index());
    for (const auto [size, segment] :
         {std::pair<size_t, size_t>{60, SIZE_MAX}, {1514, 200}, {1514, 30}, {9014, 1000}}) {
      const Frame f = frame(size, static_cast<uint8_t>(segment));
      s.punt(f, segment);
      EXPECT_EQ(received(linux_side), f) << size;
    }
    EXPECT_TRUE(until([&] { return s.path->taken() == 4; }));  // counted after the frame has gone
    EXPECT_EQ(s.path->refused(0), 0U);
    EXPECT_EQ(s.path->held(), 0U);
  });
}

TEST(PuntThread, ReadsFramesAndKeepsTheirLink) {
  IN_NEW_NAMESPACE([] {
    Served s;
    const File linux_side = packet_socket(s.tap.index());
    const Frame f = frame(1514, 3), jumbo = frame(9014, 4);
    ASSERT_EQ(send(linux_side.fd(), f.data(), f.size(), 0), static_cast<ssize_t>(f.size()));
    ASSERT_GT(send(linux_side.fd(), jumbo.data(), jumbo.size(), 0), 0);
    ASSERT_GT(send(linux_side.fd(), f.data(), f.size(), 0), 0);
    std::vector<Frame> got;
    EXPECT_TRUE(until([&] {
      rte_mbuf* m = nullptr;
      while (s.path->shard(0).from_linux->pop({&m, 1}) == 1) {
        EXPECT_EQ(m->port, 0);
        got.push_back(testing::bytes_of(m));
        rte_pktmbuf_free(m);
      }
      return std::ranges::count(got, f) == 2;
    }));
    // The test pool's buffers hold 2 KB.
    EXPECT_EQ(s.path->unusable(), 1U);
  });
}

TEST(PuntThread, LeavesFramesWithLinuxWhileARingIsFull) {
  IN_NEW_NAMESPACE([] {
    Served s;
    const File linux_side = packet_socket(s.tap.index());
    const Frame f = frame(60, 3);
    const unsigned n = PacketRing::kSlots + 200;
    for (unsigned i = 0; i < n; ++i) {
      if (i >= 500) std::this_thread::sleep_for(std::chrono::microseconds(50));
      send(linux_side.fd(), f.data(), f.size(), 0);
    }
    EXPECT_TRUE(until([&] { return s.path->shard(0).from_linux->free_slots() == 0; }));
    unsigned got = 0;
    EXPECT_TRUE(until([&] {
      rte_mbuf* m = nullptr;
      while (s.path->shard(0).from_linux->pop({&m, 1}) == 1) {
        got += testing::bytes_of(m) == f ? 1 : 0;
        rte_pktmbuf_free(m);
      }
      return got == n;
    })) << got;
  });
}

TEST(PuntThread, CountsPacketsThatLinuxRefuses) {
  IN_NEW_NAMESPACE([] {
    Served s;
    const File control(socket(AF_INET, SOCK_DGRAM, 0));
    ifreq r{};
    std::strcpy(r.ifr_name, "tp0");
    ASSERT_EQ(ioctl(control.fd(), SIOCSIFFLAGS, &r), 0);  // down
    s.punt(frame(60, 1), SIZE_MAX);
    EXPECT_TRUE(until([&] { return s.path->refused(0) == 1; }));
    EXPECT_TRUE(until([&] { return s.path->taken() == 1; }));
    EXPECT_EQ(s.thread->gone(), 0U);
  });
}

TEST(PuntThread, ADeletedInterfaceIsReportedAndCostsNothing) {
  IN_NEW_NAMESPACE([] {
    Served s;
    ASSERT_EQ(std::system("ip link del tp0"), 0);
    EXPECT_TRUE(until([&] { return s.thread->gone() == 1; }));
    s.punt(frame(60, 1), SIZE_MAX);
    EXPECT_TRUE(until([&] { return s.path->refused(0) == 1; }));
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    EXPECT_LT(used, 0.15) << "s of CPU in 0.3 s";
  });
}

TEST(PuntThread, ItsEndEmptiesTheRings) {
  IN_NEW_NAMESPACE([] {
    const unsigned before = testing::test_pool().in_use();
    {
      Served s;
      s.thread->stop_reading();
      for (int i = 0; i < 500; ++i) s.punt(frame(60, 1), SIZE_MAX);
      s.thread->stop();
      EXPECT_EQ(s.path->taken(), 500U);
      EXPECT_EQ(s.path->held(), 0U);
    }
    EXPECT_EQ(testing::test_pool().in_use(), before);
  });
}

}  // namespace
}  // namespace turnpike::router
