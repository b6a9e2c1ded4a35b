// SPDX-License-Identifier: BSD-3-Clause
// Links in VLANs of one port: which frames come to which link, tags that are inserted, and a port
// that takes only a part.
#include "router/datapath/vlan/vlan_trunk.h"

#include <deque>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "common/dpdk/buffer.h"
#include "common/wire/layers.h"
#include "router/datapath/ingress/parse.h"
#include "tests/support/eal.h"
#include "tests/support/router_world.h"

namespace turnpike::router {
namespace {

using test::Frame;
using Frames = std::vector<Frame>;
using ::testing::Test;
using turnpike::testing::bytes_of;
using turnpike::testing::make_mbuf;

/// A port by hand.
class FakePort final : public QueuePair {
 public:
  ~FakePort() override {
    for (rte_mbuf* m : arriving) rte_pktmbuf_free(m);
  }
  uint16_t rx(Nanos /*now*/, std::span<rte_mbuf*> out) override {
    ++polls;
    uint16_t n = 0;
    for (; n < out.size() && !arriving.empty(); arriving.pop_front()) out[n++] = arriving.front();
    return n;
  }
  uint16_t tx(Nanos /*now*/, std::span<rte_mbuf*> burst) override {
    uint16_t n = 0;
    for (; n < burst.size() && takes > 0; ++n, --takes) {
      sent.push_back(bytes_of(burst[n]));
      give_back(burst[n]);
    }
    return n;
  }

  std::deque<rte_mbuf*> arriving;
  Frames sent;
  size_t takes = std::numeric_limits<size_t>::max();
  unsigned polls = 0;
};

// Links 0 to 2: VLANs 10 and 20, and untagged frames.
constexpr VlanTrunk::Member k10{.vid = 10, .mbuf_port = 40}, k20{.vid = 20, .mbuf_port = 41},
    kNative{.vid = VlanTrunk::kUntagged, .mbuf_port = 42};

class VlanTrunkTest : public Test {
 protected:
  void arrives(const Frame& frame) { port.arriving.push_back(make_mbuf(frame)); }

  /// As a driver that takes the tag off gives it.
  void arrives_stripped(const Frame& frame, uint16_t control) {
    rte_mbuf* const m = make_mbuf(frame);
    m->vlan_tci = control;
    m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
    port.arriving.push_back(m);
  }

  Frames received(VlanTrunk& trunk, size_t link) {
    Frames frames;
    std::array<rte_mbuf*, 8> burst;
    now += 1_us;
    while (const uint16_t n = trunk.link(link).rx(now, burst)) {
      for (uint16_t i = 0; i < n; ++i) {
        input = burst[i]->port;
        frames.push_back(bytes_of(burst[i]));
        rte_pktmbuf_free(burst[i]);
      }
    }
    return frames;
  }

  static uint16_t send(VlanTrunk& trunk, size_t link, std::vector<rte_mbuf*>& burst) {
    return trunk.link(link).tx(1_us, burst);
  }

  FakePort port;
  Nanos now{0};
  uint16_t input = 0;
};

/// A tag before the first one.
Frame with_outer_tag(Frame frame, uint16_t type, uint16_t control) {
  const uint8_t tag[] = {static_cast<uint8_t>(type >> 8), static_cast<uint8_t>(type),
                         static_cast<uint8_t>(control >> 8), static_cast<uint8_t>(control)};
  frame.insert(frame.begin() + wire::kEtherTypeAt, std::begin(tag), std::end(tag));
  return frame;
}

TEST_F(VlanTrunkTest, GivesEachLinkItsFramesWithoutTheTag) {
  VlanTrunk trunk(port, std::array{k10, k20});
  arrives(test::plain(100, false, uint16_t{10}));
  arrives(test::plain(200, true, uint16_t{20}));
  arrives(test::plain(300, false, uint16_t{10}));
  EXPECT_EQ(received(trunk, 0), (Frames{test::plain(100), test::plain(300)}));
  EXPECT_EQ(input, 40);
  EXPECT_EQ(received(trunk, 1), (Frames{test::plain(200, true)}));
  EXPECT_EQ(input, 41);
}

TEST_F(VlanTrunkTest, IgnoresPriorityAndDei) {
  VlanTrunk trunk(port, std::array{k10, k20});
  arrives(test::plain(100, false, uint16_t{0xe000 | 10}));  // PCP 7
  arrives(test::plain(100, false, uint16_t{0x1000 | 10}));  // DEI
  arrives_stripped(test::plain(100), 0xb000 | 10);
  EXPECT_EQ(received(trunk, 0), Frames(3, test::plain(100)));
}

TEST_F(VlanTrunkTest, TakesTagsFromTheDriver) {
  VlanTrunk trunk(port, std::array{k10, k20});
  arrives_stripped(test::plain(100), 20);
  arrives_stripped(test::plain(100), 30);
  EXPECT_EQ(received(trunk, 1), Frames{test::plain(100)});
  EXPECT_EQ(received(trunk, 0), (Frames{test::plain(100, false, uint16_t{30})}))
      << "of no link: with its tag";
}

TEST_F(VlanTrunkTest, LeavesTheTagsOfOtherFrames) {
  VlanTrunk trunk(port, std::array{k10, k20});
  const Frame foreign = test::plain(100, false, uint16_t{30});
  const Frame double_tag = with_outer_tag(test::plain(100, false, uint16_t{20}), 0x8100, 10);
  const Frame service = with_outer_tag(test::plain(100, false, uint16_t{20}), 0x88a8, 10);
  const Frame tagged_service = with_outer_tag(service, 0x8100, 20);
  const Frame untagged = test::plain(100);
  for (const Frame& f : {foreign, double_tag, service, tagged_service, untagged}) arrives(f);
  EXPECT_TRUE(received(trunk, 1).empty());
  // Without a link for untagged frames, they get a tag of VID 0, as service tags do.
  EXPECT_EQ(received(trunk, 0), (Frames{foreign, double_tag, with_outer_tag(service, 0x8100, 0),
                                        tagged_service, with_outer_tag(untagged, 0x8100, 0)}));
}

TEST_F(VlanTrunkTest, HasALinkForUntaggedFramesAndThoseWithPriorityAlone) {
  VlanTrunk trunk(port, std::array{k10, k20, kNative});
  const Frame foreign = test::plain(100, false, uint16_t{30});
  arrives(test::plain(100));
  arrives(test::plain(200, false, uint16_t{0xe000}));
  arrives(foreign);
  EXPECT_EQ(received(trunk, 2), (Frames{test::plain(100), test::plain(200), foreign}));
  EXPECT_EQ(input, 42);
}

TEST_F(VlanTrunkTest, ReadsNothingBeyondShortFrames) {
  VlanTrunk trunk(port, std::array{k10, k20});
  const Frame whole = test::plain(100, false, uint16_t{20});
  for (size_t size = 0; size < 18; ++size) arrives(Frame(whole.begin(), whole.begin() + size));
  EXPECT_EQ(received(trunk, 0).size(), 18U);
  EXPECT_TRUE(received(trunk, 1).empty());
}

TEST_F(VlanTrunkTest, MarksAFrameWithoutRoomForATag) {
  VlanTrunk trunk(port, std::array{k10, k20});
  rte_mbuf* const m = make_mbuf(test::plain(100));
  m->data_off = 0;
  const Frame frame = test::plain(100);
  std::ranges::copy(frame, rte_pktmbuf_mtod(m, uint8_t*));
  port.arriving.push_back(m);
  const Frame got = received(trunk, 0).at(0);
  EXPECT_EQ(wire::load_be16(got.data() + wire::kEtherTypeAt), 0xffff);
}

TEST_F(VlanTrunkTest, TagsWhatItSends) {
  VlanTrunk trunk(port, std::array{k10, k20, kNative});
  std::vector<rte_mbuf*> burst{make_mbuf(test::plain(100)), make_mbuf(test::plain(200, true))};
  EXPECT_EQ(send(trunk, 1, burst), 2);
  burst = {make_mbuf(test::plain(300))};
  EXPECT_EQ(send(trunk, 2, burst), 1);
  // From a port where tags stay on packets.
  burst = {make_mbuf(test::plain(300, false, uint16_t{0xe000 | 77}))};
  EXPECT_EQ(send(trunk, 0, burst), 1);
  EXPECT_EQ(port.sent,
            (Frames{test::plain(100, false, uint16_t{20}), test::plain(200, true, uint16_t{20}),
                    test::plain(300), test::plain(300, false, uint16_t{10})}));
}

TEST_F(VlanTrunkTest, ReturnsWithoutTagsWhatThePortDoesNotTake) {
  VlanTrunk trunk(port, std::array{k10, k20});
  port.takes = 1;
  std::vector<rte_mbuf*> burst(3);
  for (rte_mbuf*& m : burst) m = make_mbuf(test::plain(100));
  ASSERT_EQ(send(trunk, 0, burst), 1);
  burst.erase(burst.begin());
  for (const rte_mbuf* m : burst) EXPECT_EQ(bytes_of(m), test::plain(100));
  port.takes = 9;
  EXPECT_EQ(send(trunk, 0, burst), 2);
  EXPECT_EQ(port.sent, Frames(3, test::plain(100, false, uint16_t{10})));
}

TEST_F(VlanTrunkTest, CountsWhatHasNoRoomForATag) {
  VlanTrunk trunk(port, std::array{k10, k20});
  std::vector<rte_mbuf*> burst{make_mbuf(test::plain(100)), make_mbuf(test::plain(100)),
                               make_mbuf(test::plain(100))};
  burst[1]->data_off = 0;
  ASSERT_EQ(send(trunk, 0, burst), 2);
  EXPECT_EQ(trunk.without_room(), 1U);
  EXPECT_EQ(port.sent.size(), 1U);
  give_back(burst[2]);
}

TEST_F(VlanTrunkTest, PollsThePortOnceForLinksWithoutFrames) {
  VlanTrunk trunk(port, std::array{k10, k20});
  std::array<rte_mbuf*, 32> burst;
  EXPECT_EQ(trunk.link(0).rx(1_us, burst), 0);
  EXPECT_EQ(trunk.link(1).rx(1_us, burst), 0);
  EXPECT_EQ(port.polls, 1U);
  EXPECT_EQ(trunk.link(1).rx(2_us, burst), 0);
  EXPECT_EQ(port.polls, 2U);
}

TEST_F(VlanTrunkTest, SaysThatFramesWaitForAnotherLink) {
  VlanTrunk trunk(port, std::array{k10, k20});
  std::array<rte_mbuf*, 32> burst;
  arrives(test::plain(100, false, uint16_t{10}));
  EXPECT_EQ(trunk.link(1).rx(1_us, burst), 0);
  EXPECT_EQ(trunk.link(1).next_deadline(), 0_ns);
  EXPECT_EQ(received(trunk, 0).size(), 1U);
  EXPECT_EQ(trunk.link(1).next_deadline(), kNever);
}

// A link that is not polled holds up the others, and loses nothing; the port holds the rest.
TEST_F(VlanTrunkTest, LosesNothingAndKeepsTheOrderOfEachLink) {
  VlanTrunk trunk(port, std::array{k10, k20});
  std::mt19937 random(1);
  std::array<Frames, 2> expected, got;
  for (uint16_t i = 0; i < 2000; ++i) {
    const size_t link = random() % 4 == 0 ? 1 : 0;
    const auto size = static_cast<uint16_t>(60 + i % 400);
    arrives(test::plain(size, false, link == 0 ? k10.vid : k20.vid));
    expected[link].push_back(test::plain(size));
  }
  const auto take = [&](size_t link) {
    for (Frame& f : received(trunk, link)) got[link].push_back(std::move(f));
  };
  take(1);  // the buffer of link 0 fills
  EXPECT_LT(got[1].size(), expected[1].size());
  EXPECT_GT(port.arriving.size(), 2000U - 2 * VlanTrunk::kMaxWaiting);
  while (got[0].size() + got[1].size() < 2000U) {
    take(0);
    take(1);
  }
  EXPECT_EQ(got, expected);
}

TEST_F(VlanTrunkTest, FreesWhatWaits) {
  {
    VlanTrunk trunk(port, std::array{k10, k20});
    std::array<rte_mbuf*, 32> burst;
    for (int i = 0; i < 20; ++i) arrives(test::plain(100, false, uint16_t{10}));
    EXPECT_EQ(trunk.link(1).rx(1_us, burst), 0);
  }
  EXPECT_EQ(turnpike::testing::test_pool().in_use(), 0U);
}

// The parse stage, where the port carries VLANs.
TEST_F(VlanTrunkTest, ParserNamesWhatIsOfNoLink) {
  const auto why = [](const Frame& frame, bool tagged_port) {
    rte_mbuf* const m = make_mbuf(frame);
    PacketInfo p;
    Station station;
    std::copy_n(frame.begin(), station.mac.size(), station.mac.begin());
    station.tagged_port = tagged_port;
    const DropReason reason = parse_ethernet(*m, p, station);
    rte_pktmbuf_free(m);
    return reason;
  };
  const Frame tagged = test::plain(100, false, uint16_t{30});
  EXPECT_EQ(why(tagged, true), DropReason::kUnknownVlan);
  EXPECT_EQ(why(tagged, false), DropReason::kNone);
  EXPECT_EQ(why(test::plain(100), true), DropReason::kNone);
  EXPECT_EQ(why(with_outer_tag(tagged, 0x8100, 10), true), DropReason::kUnknownEthertype);
  EXPECT_EQ(why(with_outer_tag(tagged, 0x88a8, 10), true), DropReason::kUnknownEthertype);
  EXPECT_EQ(why(with_outer_tag(test::plain(100), 0x8100, 0), true), DropReason::kUnknownVlan);
}

}  // namespace
}  // namespace turnpike::router
