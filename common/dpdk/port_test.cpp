// SPDX-License-Identifier: BSD-3-Clause
// Ports over virtual devices that every machine has: memif to memif, captures, and bad ones.
#include "common/dpdk/port.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>
#include <rte_ethdev.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/eal.h"

namespace turnpike {
namespace {

using testing::bytes_of;
using testing::make_mbuf;
using testing::test_pool;
using Frames = std::vector<std::vector<uint8_t>>;

constexpr std::array<uint8_t, 6> kMac0 = {2, 0, 0, 0, 0, 1};
constexpr std::array<uint8_t, 6> kMac1 = {2, 0, 0, 0, 0, 2};

std::vector<uint8_t> frame(size_t size, uint8_t seed) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(seed + i * 5);
  return bytes;
}

tl::expected<Port, std::string> open_port(const Device& device, const PortOptions& options = {}) {
  rte_mempool* pool = test_pool().get();
  return Port::open(device, options, {&pool, 1});
}

/// Gives DPDK's interrupt thread time for the events that these tests wait for.
void give_way(int milliseconds) { ::poll(nullptr, 0, milliseconds); }

bool wait_up(std::initializer_list<Port*> ports) {
  int tries = 500;
  return wait_for_links(std::vector(ports),
                        [&tries] {
                          std::this_thread::yield();
                          usleep(10000);
                          return --tries > 0;
                        })
      .empty();
}

Frames receive_once(QueuePair& queue) {
  Frames received;
  std::array<rte_mbuf*, 32> out;
  const uint16_t n = queue.rx(0_ns, out);
  for (uint16_t i = 0; i < n; ++i) received.push_back(bytes_of(out[i]));
  rte_pktmbuf_free_bulk(out.data(), n);
  return received;
}

/// Receives from a queue for up to a second, at most `wanted` packets.
Frames receive(QueuePair& queue, size_t wanted) {
  Frames received;
  for (int i = 0; i < 1000 && received.size() < wanted; ++i) {
    const Frames more = receive_once(queue);
    received.insert(received.end(), more.begin(), more.end());
    if (more.empty()) give_way(1);
  }
  return received;
}

void memif_carries_both_ways(const std::string& socket) {
  {
    auto server = open_port(memif_device(0, {.socket = socket, .server = true, .mac = kMac0}));
    ASSERT_TRUE(server) << server.error();
    auto client = open_port(memif_device(1, {.socket = socket, .mac = kMac1}), {.mtu = 9000});
    ASSERT_TRUE(client) << client.error();
    EXPECT_EQ(client->mac(), kMac1);
    EXPECT_FALSE(server->link_up());
    ASSERT_TRUE(server->start());
    ASSERT_TRUE(client->start());
    ASSERT_TRUE(wait_up({&*server, &*client}));

    const Frames sent = {frame(60, 1), frame(1514, 2), frame(9014, 3)};
    std::array<rte_mbuf*, 3> burst;
    for (size_t i = 0; i < sent.size(); ++i) burst[i] = make_mbuf(sent[i], 2000);
    ASSERT_EQ(client->queue(0).tx(0_ns, burst), 3);
    EXPECT_EQ(receive(server->queue(0), 3), sent);
    EXPECT_EQ(server->stats().rx_packets, 3U);
    EXPECT_EQ(client->stats().tx_packets, 3U);
    EXPECT_EQ(client->queue(0).unsendable(), 0U);

    // A memif server sends into buffers that the client has offered by polling.
    EXPECT_EQ(receive_once(client->queue(0)), Frames{});
    rte_mbuf* back = make_mbuf(sent[1]);
    ASSERT_EQ(server->queue(0).tx(0_ns, {&back, 1}), 1);
    EXPECT_EQ(receive(client->queue(0), 1), Frames{sent[1]});
  }
  EXPECT_EQ(test_pool().in_use(), 0U);
}

// A sender in its sandbox cannot remove the socket that it served: its successor removes it.
TEST(OtherDevice, KnowsTheSocketThatAMemifServerLeaves) {
  const auto stale = [](const std::string& arguments) { return other_device(arguments).stale; };
  EXPECT_EQ(stale("net_memif0,role=server,socket-abstract=no,socket=/run/a.sock"), "/run/a.sock");
  EXPECT_EQ(stale("net_memif0,role=client,socket-abstract=no,socket=/run/a.sock"), "");
  EXPECT_EQ(stale("net_memif0,role=server,socket=name"), "");  // in the abstract namespace
  EXPECT_EQ(stale("net_memif0"), "");
  EXPECT_EQ(stale("net_null0,role=server,socket-abstract=no,socket=/run/a.sock"), "");
}

TEST(Port, MemifCarriesBothWaysOverAnAbstractSocket) {
  memif_carries_both_ways("@turnpike/port_test/" + std::to_string(getpid()));
}

TEST(Port, MemifCarriesBothWaysOverASocketFileEvenIfOneIsLeftOver) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("turnpike-" + std::to_string(getpid()) + ".sock");
  const int left = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  ASSERT_EQ(bind(left, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(left);  // the capture file stays
  memif_carries_both_ways(path);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Port, MemifNeighboursMayComeAndGoWhileAQueueIsPolled) {
  const std::string socket = "@turnpike/come_and_go/" + std::to_string(getpid());
  auto server = open_port(memif_device(0, {.socket = socket, .server = true, .mac = kMac0}));
  ASSERT_TRUE(server) << server.error();
  ASSERT_TRUE(server->start());
  std::atomic<bool> stop{false};
  std::atomic<size_t> arrived{0};
  std::thread poller([&] {
    while (!stop.load()) arrived += receive_once(server->queue(0)).size();
  });
  for (size_t i = 1; i <= 50; ++i) {
    auto client = open_port(memif_device(1, {.socket = socket, .mac = kMac1}));
    EXPECT_TRUE(client && client->start());
    EXPECT_TRUE(client && wait_up({&*server, &*client}));
    rte_mbuf* m = make_mbuf(frame(100, 1));
    if (!client || client->queue(0).tx(0_ns, {&m, 1}) != 1) rte_pktmbuf_free(m);
    // Every other client leaves its packet behind unread, perhaps within the poller's burst.
    for (int wait = 0; i % 2 == 0 && arrived.load() < i / 2 && wait < 5000; ++wait) give_way(1);
  }
  stop.store(true);
  poller.join();
  EXPECT_GE(arrived.load(), 25U);
}

/// Whether a link goes down within 5 s.
bool goes_down(const Port& port) {
  for (int i = 0; i < 1000 && port.link_up(); ++i) give_way(5);
  return !port.link_up();
}

/// Whether a client's link comes up within `calls` calls of keep_link(), 10 ms apart.
bool comes_up(Port& client, int calls) {
  for (int i = 0; i < calls; ++i) {
    if (client.keep_link()) return true;
    give_way(10);
  }
  return false;
}

TEST(Port, AMemifClientFindsAServerThatStartsLaterAndAgain) {
  const std::string socket = "@turnpike/later/" + std::to_string(getpid());
  const auto open_server = [&] {
    return open_port(memif_device(0, {.socket = socket, .server = true, .mac = kMac0}));
  };
  // Within one process the driver needs the server's port first.
  auto server = std::make_unique<tl::expected<Port, std::string>>(open_server());
  ASSERT_TRUE(*server) << server->error();
  auto client = open_port(memif_device(1, {.socket = socket, .mac = kMac1}));
  ASSERT_TRUE(client) << client.error();
  std::atomic<bool> stop{false};
  std::thread poller([&] {
    while (!stop.load()) receive_once(client->queue(0));
  });
  for (int i = 0; i < 10; ++i) {
    // A port that has not started answers that the id does not exist.
    EXPECT_FALSE(comes_up(*client, 5));
    EXPECT_TRUE(*server && (*server)->start());
    EXPECT_TRUE(comes_up(*client, 500));
    server.reset();
    EXPECT_TRUE(goes_down(*client));
    server = std::make_unique<tl::expected<Port, std::string>>(open_server());
  }
  stop.store(true);
  poller.join();
}

TEST(Port, AMemifSocketWithNothingToReadDoesNotBlockTheInterruptThread) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
  std::array<char, 16> text{};
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  EXPECT_EQ(recvmsg(ends[0], &message, 0), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(::write(ends[1], "hello", 5), 5);
  EXPECT_EQ(recvmsg(ends[0], &message, 0), 5);
  close(ends[0]);
  close(ends[1]);
}

TEST(Port, AStoppedServerDoesNotHoldAClientUp) {
  const std::string name = "turnpike/stopped/" + std::to_string(getpid());
  const int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);  // listens, and never accepts
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  auto client = open_port(memif_device(1, {.socket = "@" + name, .mac = kMac1}));
  ASSERT_TRUE(client) << client.error();
  EXPECT_FALSE(comes_up(*client, 60));  // more connections than the listener's backlog
  close(listener);
}

TEST(Port, ACaptureThatWasWrittenIsReadBack) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string out = folder / ("turnpike-out-" + std::to_string(getpid()) + ".pcap");
  const Frames frames = {frame(60, 1), frame(1514, 2), frame(300, 3)};
  {
    auto writer = open_port(other_device("net_pcap0,tx_pcap=" + out));
    ASSERT_TRUE(writer) << writer.error();
    ASSERT_TRUE(writer->start());
    for (const auto& f : frames) {
      rte_mbuf* m = make_mbuf(f, 100);
      ASSERT_EQ(writer->queue(0).tx(0_ns, {&m, 1}), 1);
    }
  }
  {
    auto reader = open_port(pcap_device(0, out, "", false, 1));
    ASSERT_TRUE(reader) << reader.error();
    ASSERT_TRUE(reader->start());
    EXPECT_EQ(receive(reader->queue(0), 3), frames);
    rte_mbuf* m = make_mbuf(frames[0]);
    EXPECT_EQ(reader->queue(0).tx(0_ns, {&m, 1}), 1);  // freed, there is no tx_file
  }
  std::filesystem::remove(out);
  EXPECT_EQ(test_pool().in_use(), 0U);
}

TEST(Port, SeveralQueuesAndTheirLimit) {
  auto four = open_port(other_device("net_null0"), {.queues = 4});
  ASSERT_TRUE(four) << four.error();
  ASSERT_TRUE(four->start());
  std::array<rte_mbuf*, 4> out;
  for (uint16_t q = 0; q < 4; ++q) {
    ASSERT_EQ(four->queue(q).rx(0_ns, out), 4);
    rte_pktmbuf_free_bulk(out.data(), 4);
  }
  const auto many = open_port(other_device("net_ring0"), {.queues = 17});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error(),
            "net_ring0 has 16 queues, but 17 lcores need one each: list fewer lcores, or give the "
            "device more queues");
}

TEST(Port, WhatCannotBeOpenedSaysWhyAndWhatToDo) {
  const auto error = [](const Device& device) {
    const auto port = open_port(device);
    return port ? std::string("opened") : port.error();
  };
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(error(af_packet_device(7, "turnpike-none", 1)), "ip link show turnpike-none");
  says(error(pcap_device(7, "/nonexistent.pcap", "", false, 1)), "No such file");
  says(error(pci_device("0000:ff:1f.7")), "dpdk-devbind.py -b vfio-pci 0000:ff:1f.7");
  says(error(memif_device(7, {.socket = "/nonexistent/s", .server = true})), "folder must exist");
  says(error(other_device("net_nonsense0")), "net_nonsense0");
}

TEST(Port, MemifTakesTheLongestPathOfASocket) {
  std::string path = "/tmp/turnpike-" + std::to_string(getpid()) + "-";
  path.resize(sizeof sockaddr_un::sun_path - 1, 'x');
  memif_carries_both_ways(path);
}

TEST(Port, WaitingForLinksReturnsThoseThatStayDown) {
  auto alone = open_port(
      memif_device(3, {.socket = "@turnpike/alone/" + std::to_string(getpid()), .server = true}));
  ASSERT_TRUE(alone) << alone.error();
  ASSERT_TRUE(alone->start());
  int tries = 3;
  Port* const ports[] = {&*alone};
  const auto down = wait_for_links(ports, [&tries] { return --tries > 0; });
  EXPECT_EQ(down, std::vector<size_t>{0});
  EXPECT_EQ(tries, 0);
}

TEST(EthQueue, ChainsBecomeOneSegmentWhereTheDeviceTakesNone) {
  auto port = open_port(other_device("net_ring1"));
  ASSERT_TRUE(port) << port.error();
  ASSERT_TRUE(port->start());
  EthQueue queue(port->id(), 0, {.chains = false});
  const Frames frames = {frame(100, 1), frame(1500, 2), frame(3000, 3), frame(60, 4)};
  std::array<rte_mbuf*, 4> burst;
  for (size_t i = 0; i < burst.size(); ++i) burst[i] = make_mbuf(frames[i], i == 3 ? 100 : 700);
  // 3000 B do not fit into one buffer: never sendable.
  ASSERT_EQ(queue.tx(0_ns, burst), 4);
  EXPECT_EQ(queue.unsendable(), 1U);
  std::array<rte_mbuf*, 8> out;
  ASSERT_EQ(queue.rx(0_ns, out), 3);  // the ring device loops back
  for (const auto& [m, f] : {std::pair{out[0], 0}, std::pair{out[1], 1}, std::pair{out[2], 3}}) {
    EXPECT_EQ(m->nb_segs, 1);
    EXPECT_EQ(bytes_of(m), frames[static_cast<size_t>(f)]);
    rte_pktmbuf_free(m);
  }
}

}  // namespace
}  // namespace turnpike
