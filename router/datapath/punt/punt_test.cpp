// SPDX-License-Identifier: BSD-3-Clause
// Which packets go to Linux, at which rates, and what comes back.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/ingress/ip.h"
#include "tests/support/eal.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

config::Topology controlled(bool punt_ttl = false, double rate = 1000) {
  config::Topology t = topology();
  config::LinuxControl control;
  control.interfaces = {"left", "right", "narrow"};
  control.rates.fill(rate);
  control.punt_ttl = punt_ttl;
  t.routers[0].linux_control = control;
  return t;
}

RouterOptions with_linux() {
  RouterOptions options;
  options.linux_control = true;
  return options;
}

/// A router whose punt thread is the test.
class LinuxWorld : public World {
 public:
  explicit LinuxWorld(const config::Topology& t = controlled(), unsigned workers = 1)
      : World(workers, t, with_linux()) {}
  ~LinuxWorld() { take(); }
  LinuxWorld(const LinuxWorld&) = delete;
  LinuxWorld& operator=(const LinuxWorld&) = delete;

  /// The frames for Linux since the last call, with the link of each.
  std::vector<std::pair<size_t, Frame>> take() {
    std::vector<std::pair<size_t, Frame>> frames;
    PuntPath& path = *router().punt_path();
    for (unsigned w = 0; w < path.workers(); ++w) {
      rte_mbuf* m = nullptr;
      while (path.shard(w).to_linux->pop({&m, 1}) == 1) {
        frames.emplace_back(m->port, testing::bytes_of(m));
        path.count_taken(1);
        rte_pktmbuf_free(m);
      }
    }
    EXPECT_TRUE(snapshot().conserved());
    return frames;
  }

  /// Sends a frame through Linux's interface of a link.
  void send(size_t link, const Frame& frame) {
    rte_mbuf* m = testing::make_mbuf(frame, SIZE_MAX, pool());
    m->port = static_cast<uint16_t>(link);
    EXPECT_TRUE(router().punt_path()->shard(router().owners()[link]).from_linux->push(m));
  }

  [[nodiscard]] uint64_t punted(PuntClass of) const {
    return snapshot().punt->punted[static_cast<size_t>(of)];
  }
};

Frame arp_request(std::string_view target) {
  Frame a{0, 1, 8, 0, 6, 4, 0, 1};
  a.resize(28);
  wire::store_be32(a.data() + 24, ipv4(target));
  return a;
}

Frame multicast_v6(std::string_view group, uint8_t next) {
  Frame f = v6({.source = "fe80::2", .destination = group, .next = next, .hop_limit = 1});
  f[0] = f[1] = 0x33;
  return f;
}

Frame multicast_v4(std::string_view group) {
  Frame f = v4({.destination = group, .protocol = 89, .ttl = 1});
  f[0] = 1;
  f[1] = 0;
  f[2] = 0x5e;
  return f;
}

Frame group_frame(uint16_t type, const Frame& payload) {
  Frame f = ethernet(kLeft, type, payload);
  f[0] |= 1;
  return f;
}

Frame icmp6_to(std::string_view destination, uint8_t type, uint8_t hop_limit = 255) {
  const Ipv6Spec at{
      .source = "fe80::2", .destination = destination, .next = kIcmp6, .hop_limit = hop_limit};
  return v6(at, icmp6(at, type, 0, 0, bytes(16)));
}

TEST(Punt, TakesWhatTheControlPlaneNeeds) {
  struct Case {
    const char* name;
    Frame frame;
    PuntClass of;
  };
  using C = PuntClass;
  Frame dhcp = v4({.source = "0.0.0.0", .destination = "255.255.255.255"});
  std::fill_n(dhcp.begin(), 6, 0xff);
  for (const Case& c : {
           Case{"ARP request", ethernet(kLeft, kEtherTypeArp, arp_request("10.0.1.1")),
                C::kNeighbour},
           {"ARP for another", ethernet(kLeft, kEtherTypeArp, arp_request("10.0.1.77")),
            C::kNeighbour},
           {"tagged ARP", ethernet(kLeft, kEtherTypeArp, arp_request("10.0.1.1"), 42),
            C::kNeighbour},
           {"neighbour solicitation", icmp6_to("ff02::1:ff00:1", 135), C::kNeighbour},
           {"neighbour advertisement", icmp6_to("fd00:1::1", 136), C::kNeighbour},
           {"router solicitation", icmp6_to("ff02::2", 133), C::kNeighbour},
           {"MLD report", icmp6_to("ff02::16", 143, 1), C::kRouting},
           {"OSPF", multicast_v4("224.0.0.5"), C::kRouting},
           {"OSPFv3", multicast_v6("ff02::5", 89), C::kRouting},
           {"IS-IS", group_frame(30, {0xfe, 0xfe, 3, 0x83}), C::kRouting},
           {"LLDP", group_frame(0x88cc, bytes(40)), C::kOther},
           {"DHCP", dhcp, C::kOther},
           {"echo request", v4({.destination = "10.0.1.1", .protocol = kIcmp}, icmp(8, 0, 1, {})),
            C::kLocal},
           {"BGP", v4({.destination = "10.0.3.1", .protocol = kTcp}, bytes(20)), C::kLocal},
           {"UDP", v4({.destination = "10.0.1.1"}), C::kLocal},
           {"fragment", v4({.destination = "10.0.1.1", .fragment = 0x2001}), C::kLocal},
           {"IPv4 link-local", v4({.source = "169.254.0.2", .destination = "10.0.1.1"}), C::kLocal},
           {"echo request 6", icmp6_to("fd00:1::1", 128), C::kLocal},
           {"link-local", icmp6_to("fe80::ff:fe00:101", 128), C::kLocal},
           {"another link-local", icmp6_to("fe80::1", 128), C::kLocal},
           {"TCP 6", v6({.destination = "fd00:3::1", .next = kTcp}, bytes(20)), C::kLocal},
       }) {
    SCOPED_TRACE(c.name);
    LinuxWorld w;
    w.arrive(kLeft, c.frame);
    w.poll(w.now);
    EXPECT_EQ(w.punted(c.of), 1U);
    EXPECT_EQ(w.snapshot().held, 1U);
    EXPECT_EQ(w.snapshot().dropped(), 0U);
    const auto taken = w.take();
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].first, kLeft);
    EXPECT_EQ(taken[0].second, c.frame);
    EXPECT_EQ(w.snapshot().delivered, 1U);
    EXPECT_EQ(w.snapshot().held, 0U);
    for (size_t l = 0; l < kLinks; ++l) EXPECT_TRUE(w.sent(l).empty());
  }
}

TEST(Punt, LeavesTheRest) {
  struct Case {
    Frame frame;
    DropReason why;
  };
  using R = DropReason;
  Frame foreign = ethernet(kLeft, kEtherTypeArp, arp_request("10.0.1.1"));
  foreign[5] ^= 1;
  for (const Case& c :
       {Case{multicast_v4("239.1.2.3"), R::kMulticast},
        {multicast_v6("ff05::2", 17), R::kMulticast},
        {icmp6_to("ff05::2", 143, 1), R::kMulticast},
        {group_frame(0x8847, bytes(40)), R::kUnknownEthertype},
        {group_frame(30, {0x42, 0x42, 3}), R::kUnknownEthertype},
        {group_frame(30, {0xfe}), R::kUnknownEthertype},
        {v4({.source = "127.0.0.1"}), R::kMartianSource},
        {v4({.source = "127.0.0.1", .destination = "255.255.255.255"}), R::kMartianSource},
        {v6({.source = "fe80::2"}), R::kLinkLocal},
        {foreign, R::kNotForUs},
        {v4({.destination = "9.9.9.9"}), R::kNoRoute},
        {v4({.ttl = 1}), R::kTtlExpired}}) {
    LinuxWorld w;
    w.arrive(kLeft, c.frame);
    w.poll(w.now);
    w.expect_one_drop(c.why);
    EXPECT_TRUE(w.take().empty());
  }
}

TEST(Punt, JoinedGroupsReachLinuxOnTheirLinkOnly) {
  LinuxWorld w;
  JoinedGroups groups{.links = std::vector<JoinedGroups::OnLink>(kLinks)};
  groups.links[kLeft] = {.ipv4 = {ipv4("239.1.2.3")}, .ipv6 = {ipv6("ff05::2")}};
  w.router().punt_path()->set_groups(groups);
  for (unsigned i = 0; i < Worker::kHousekeeping; ++i) w.router().worker(0).poll(w.now);
  w.arrive(kLeft, multicast_v4("239.1.2.3"));
  w.arrive(kLeft, multicast_v6("ff05::2", 17));
  w.arrive(kLeft, multicast_v4("239.1.2.4"));
  Frame elsewhere = multicast_v4("239.1.2.3");
  w.arrive(kNarrow, elsewhere);
  w.poll(w.now);
  EXPECT_EQ(w.punted(PuntClass::kOther), 2U);
  EXPECT_EQ(w.drops(DropReason::kMulticast), 2U);
  EXPECT_EQ(w.take().size(), 2U);
}

TEST(Punt, GroupsAreFreedOnceNoWorkerReadsThem) {
  LinuxWorld w(controlled(), 2);
  PuntPath& path = *w.router().punt_path();
  const JoinedGroups none{.links = std::vector<JoinedGroups::OnLink>(kLinks)};
  for (int i = 0; i < 3; ++i) path.set_groups(none);
  const JoinedGroups* seen = path.load_groups(0);
  EXPECT_EQ(seen->version, path.groups().version);
  EXPECT_EQ(path.load_groups(1), seen);
  path.set_groups(none);
  EXPECT_EQ(seen->links.size(), kLinks);  // valid until its reader loads another
  EXPECT_EQ(path.load_groups(0)->version, seen->version + 1);
}

TEST(Punt, ExpiredPacketsGoToLinuxIfAskedFor) {
  LinuxWorld w(controlled(true));
  w.arrive(kLeft, v4({.ttl = 1}));
  w.arrive(kLeft, v6({.hop_limit = 1}));
  w.poll(w.now);
  EXPECT_EQ(w.punted(PuntClass::kTtl), 2U);
  const auto taken = w.take();
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].first, kLeft);
  EXPECT_EQ(taken[0].second, v4({.ttl = 1}));
  EXPECT_TRUE(w.sent(kLeft).empty());
}

TEST(Punt, ErrorsAreStillAnsweredByTheRouter) {
  LinuxWorld w;
  w.arrive(kLeft, v4({.ttl = 1}));
  w.poll(w.now);
  EXPECT_EQ(w.only(kLeft)[34], 11);
}

TEST(Punt, EachClassOfEachLinkHasARate) {
  LinuxWorld w;  // 1000/s: 100 at once
  const Frame arp = ethernet(kLeft, kEtherTypeArp, arp_request("10.0.1.1"));
  for (int i = 0; i < 150; ++i) w.arrive(kLeft, arp);
  w.poll(w.now);
  EXPECT_EQ(w.punted(PuntClass::kNeighbour), 100U);
  EXPECT_EQ(w.drops(DropReason::kPuntRate), 50U);
  EXPECT_EQ(w.snapshot().punt->limited[0], 50U);
  EXPECT_EQ(w.snapshot().links[kLeft].drops[static_cast<size_t>(DropReason::kPuntRate)], 50U);
  w.arrive(kLeft, multicast_v4("224.0.0.5"));
  Frame right = arp;
  const wire::Mac mac = router_mac(kNarrow);
  std::copy(mac.begin(), mac.end(), right.begin());
  w.arrive(kNarrow, right);
  w.poll(w.now);
  EXPECT_EQ(w.punted(PuntClass::kRouting), 1U) << "another class";
  EXPECT_EQ(w.punted(PuntClass::kNeighbour), 101U) << "another link";
  for (int i = 0; i < 150; ++i) w.arrive(kLeft, arp);
  w.poll(w.now + 20_ms);
  EXPECT_EQ(w.punted(PuntClass::kNeighbour), 121U) << "20 ms of 1000/s";
  EXPECT_EQ(w.take().size(), 122U);
}

TEST(Punt, AFullQueueDropsWithACount) {
  LinuxWorld w(controlled(false, 1e6));
  for (unsigned i = 0; i < PacketRing::kSlots + 10; ++i)
    w.arrive(kLeft, v4({.destination = "10.0.1.1"}));
  w.poll(w.now);
  EXPECT_EQ(w.punted(PuntClass::kLocal), PacketRing::kSlots);
  EXPECT_EQ(w.drops(DropReason::kPuntQueue), 10U);
  EXPECT_EQ(w.router().held(), PacketRing::kSlots);
  EXPECT_EQ(w.take().size(), PacketRing::kSlots);
}

TEST(Punt, RefusedPacketsAreDropsOfTheirLink) {
  LinuxWorld w;
  w.arrive(kLeft, v4({.destination = "10.0.1.1"}));
  w.poll(w.now);
  w.router().punt_path()->count_refused(kLeft);
  EXPECT_EQ(w.take().size(), 1U);
  EXPECT_EQ(w.snapshot().delivered, 0U);
  EXPECT_EQ(w.snapshot().links[kLeft].drops[static_cast<size_t>(DropReason::kPuntRefused)], 1U);
}

TEST(FromLinux, FramesLeaveAsTheyAre) {
  LinuxWorld w;
  Frame lldp = ethernet(kLeft, 0x88cc, bytes(46));
  lldp[0] = 0x01;
  Frame v6_frame = plain(1280, true);
  for (const size_t link : {kLeft, kRight, kNarrow}) {
    for (const Frame& f : {lldp, plain(1200), v6_frame, plain(600, false, 7),
                           ethernet(link, kEtherTypeArp, arp_request("10.0.2.2"))}) {
      w.send(link, f);
      w.poll(w.now);
      w.run_until(w.now + 1_ms);
      EXPECT_EQ(w.only(link), f);
    }
  }
  EXPECT_EQ(w.snapshot().originated, 15U);
  EXPECT_EQ(w.snapshot().forwarded, 15U);
  EXPECT_EQ(w.snapshot().links[kRight].stamped, 0U);
}

TEST(FromLinux, WaitsInTheLinksQueueAndIsDroppedWhenItIsFull) {
  LinuxWorld w;
  for (int i = 0; i < 100; ++i) {  // 150 KB into a buffer of 100 KB
    w.send(kRight, plain(1500));
    w.poll(w.now);
  }
  EXPECT_GT(w.drops(DropReason::kQueueFull), 25U);
  EXPECT_GT(w.snapshot().held, 50U);
  w.run_until(w.now + 1_s);
  EXPECT_EQ(w.snapshot().forwarded + w.drops(DropReason::kQueueFull), 100U);
  EXPECT_EQ(w.sent(kRight).size(), w.snapshot().forwarded);
}

TEST(FromLinux, TooLargeOrOddFramesDoNoHarm) {
  LinuxWorld w;
  w.send(kRight, plain(1501));
  w.poll(w.now);
  EXPECT_EQ(w.drops(DropReason::kTooBig), 1U);
  Frame no_payload = plain(100);
  no_payload.resize(14);
  Frame cut = plain(100);
  cut.resize(20);
  Frame tag_only = plain(100, false, 7);
  tag_only.resize(16);
  Frame version = plain(100);
  version[14] = 0x65;
  for (const Frame& f : {no_payload, cut, tag_only, version}) {
    w.send(kRight, f);
    w.poll(w.now);
    w.run_until(w.now + 1_ms);
    EXPECT_EQ(w.only(kRight), f);
  }
}

TEST(FromLinux, NoneIsTakenOnceReceptionHasEnded) {
  LinuxWorld w;
  w.router().worker(0).stop_receiving();
  w.send(kLeft, plain(100));
  w.router().worker(0).poll(w.now);
  EXPECT_EQ(w.snapshot().originated, 0U);
  EXPECT_TRUE(w.sent(kLeft).empty());
}

TEST(Waiting, PacketsWithoutANeighbourWaitAndExpire) {
  LinuxWorld w;
  for (int i = 0; i < 6; ++i) w.arrive(kLeft, v4({.destination = "10.0.2.9"}));
  w.arrive(kLeft, v6({.destination = "fd00:2::9"}));
  const Nanos next = w.poll(w.now);
  EXPECT_EQ(next, w.now + NeighbourQueue::kInterval);
  EXPECT_EQ(w.drops(DropReason::kNeighbourQueue), 2U) << "four of a neighbour";
  EXPECT_EQ(w.snapshot().punt->waiting, 5U);
  EXPECT_EQ(w.snapshot().held, 5U);
  EXPECT_EQ(w.router().held(), 0U) << "an end does not wait for them";
  std::array<NeighbourRequest, 32> asked;
  ASSERT_EQ(w.router().punt_path()->shard(0).waiting->requests(asked), 5U);
  EXPECT_EQ(asked[0].link, kRight);
  EXPECT_EQ(asked[0].destination, ipv6("::ffff:10.0.2.9"));
  EXPECT_EQ(asked[4].destination, ipv6("fd00:2::9"));
  w.poll(w.now + NeighbourQueue::kTimeout - 1_ms);
  EXPECT_EQ(w.snapshot().punt->waiting, 5U);
  w.poll(w.now + 10_ms);
  EXPECT_EQ(w.snapshot().punt->waiting, 0U);
  EXPECT_EQ(w.drops(DropReason::kNoNeighbour), 5U);
  for (const Frame& f : w.sent(kLeft)) EXPECT_TRUE(f[12] == 0x86 ? f[54] == 1 : f[34] == 3);
}

TEST(Waiting, AllInAllIsBounded) {
  LinuxWorld w;
  for (unsigned i = 0; i < 3000; ++i) {
    Frame f = v4({});
    wire::store_be32(f.data() + 30, ipv4("10.0.2.3") + i % 250);
    wire::store_be16(f.data() + 24, 0);
    wire::store_be16(f.data() + 24, wire::checksum_of(wire::sum_words({f.data() + 14, 20})));
    w.arrive(kLeft, f);
    if (i % 100 == 0) w.poll(w.now);
  }
  w.poll(w.now);
  EXPECT_LE(w.snapshot().punt->waiting, NeighbourQueue::kTotal);
  EXPECT_GT(w.snapshot().punt->waiting, NeighbourQueue::kTotal / 2);
  EXPECT_EQ(w.snapshot().punt->waiting + w.drops(DropReason::kNeighbourQueue), 3000U);
  w.run_until(w.now + 1100_ms);
  EXPECT_EQ(w.snapshot().punt->waiting, 0U);
  w.sent(kLeft);
}

TEST(Waiting, AShutdownCountsThem) {
  LinuxWorld w;
  w.arrive(kLeft, v4({.destination = "10.0.2.9"}));
  w.poll(w.now);
  w.router().worker(0).discard();
  EXPECT_EQ(w.drops(DropReason::kShutdown), 1U);
  EXPECT_EQ(w.snapshot().punt->waiting, 0U);
}

TEST(Punt, AnyInputAddsUp) {
  std::mt19937_64 random(7);
  LinuxWorld w(controlled(true, 20), 2);
  const std::vector<Frame> seeds{ethernet(kLeft, kEtherTypeArp, arp_request("10.0.1.1")),
                                 multicast_v4("224.0.0.5"),
                                 multicast_v6("ff02::5", 89),
                                 icmp6_to("ff02::1:ff00:1", 135),
                                 group_frame(30, {0xfe, 0xfe, 3}),
                                 group_frame(0x88cc, bytes(40)),
                                 v4({.destination = "10.0.2.9"}),
                                 v4({.destination = "10.0.1.1"}),
                                 v6({.hop_limit = 1}),
                                 plain(1500)};
  for (int i = 0; i < 20'000; ++i) {
    Frame f = seeds[random() % seeds.size()];
    if (random() % 2 == 0) f.resize(std::max<size_t>(1, random() % f.size()));
    for (unsigned k = 0; k < random() % 4; ++k)
      f[random() % f.size()] = static_cast<uint8_t>(random());
    w.arrive(random() % kLinks, f, random() % 2, random() % 3 == 0 ? 1 + random() % 60 : 0);
    if (random() % 4 == 0 && f.size() >= 14) {
      f.resize(std::min<size_t>(f.size(), 1200));
      const size_t link = random() % kLinks;
      if (w.router().punt_path()->shard(w.router().owners()[link]).from_linux->free_slots() > 0)
        w.send(link, f);
    }
    if (i % 16 == 0) w.poll(w.now + 2_ms);
    if (i % 64 == 0) w.take();
    for (size_t l = 0; l < kLinks && i % 64 == 0; ++l) w.sent(l);
  }
  w.poll(w.now);
  w.take();
  for (size_t l = 0; l < kLinks; ++l) w.sent(l);
  const Snapshot s = w.snapshot();
  EXPECT_GT(s.delivered, 1000U);
  EXPECT_GT(s.drops[static_cast<size_t>(DropReason::kPuntRate)], 100U);
  EXPECT_GT(s.originated, 3000U);
}

}  // namespace
}  // namespace turnpike::router::test
