// SPDX-License-Identifier: BSD-3-Clause
// A router with a tree from its left link to the other two: copies, joined answers, refusals.
#include "router/datapath/multicast/multicast.h"

#include <random>

#include <gtest/gtest.h>

#include "common/protocols/fcp/header.h"
#include "common/units/instrumented.h"
#include "common/wire/bytes.h"
#include "router/datapath/multicast/replicate.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

using wire::Kind;

constexpr std::string_view kGroup4 = "239.1.0.1", kGroup6 = "ff3e::8000:1";

config::Topology tree_topology(unsigned branches = 2) {
  config::Topology t = topology();
  for (size_t l = 0; l < kLinks; ++l)
    t.hosts.push_back({.name = t.links[l].ends[1].node, .link = l, .end = 1});
  config::Tree tree;
  tree.name = "tree";
  tree.ipv4 = ipv4(kGroup4);
  tree.ipv6 = ipv6(kGroup6);
  tree.root = kLeft;
  config::Branch gate{.router = 0, .upstream = kLeft, .children = {}};
  for (size_t l = kRight; l < kRight + branches; ++l) {
    tree.receivers.push_back(l);
    gate.children.push_back(l);
  }
  tree.branches.push_back(gate);
  t.trees.push_back(tree);
  t.flows.push_back({.name = "flow", .from = kLeft, .to = kRight, .params = {}, .tree = 0});
  return t;
}

struct AnswerSpec {
  Kind kind = Kind::kAck;
  uint32_t sequence = 0, acknowledgement = 0, echo = 0;
  float price = 0;
  bool v6 = false;
  std::string_view destination = kGroup4;
  std::vector<wire::SeqRange> ranges = {};
};

/// From the host of `link` to the group.
Frame answer(size_t link, const AnswerSpec& spec) {
  const std::string n = std::to_string(link + 1);
  wire::FrameSpec frame{
      .source_mac = host_mac(link),
      .destination_mac = router_mac(link),
      .vlan = {},
      .addresses = wire::Ipv4Pair{ipv4("10.0." + n + ".2"), ipv4(spec.destination)},
      .source_port = wire::kDefaultUdpPort,
      .destination_port = 49152};
  if (spec.v6) frame.addresses = wire::Ipv6Pair{ipv6("fd00:" + n + "::2"), ipv6(kGroup6)};
  wire::Header h{.kind = spec.kind, .protocol = fcp::kProtocolId};
  h.ranges = static_cast<uint8_t>(spec.ranges.size());
  h.length = wire::header_length(fcp::kHeaderSize, h.ranges);
  h.sequence = spec.sequence;
  h.acknowledgement = spec.acknowledgement;
  h.echo = spec.echo;
  h.token = 77;
  Frame payload(h.length);
  wire::encode(h, payload.data());
  fcp::store({.rtt_ns = 20'000'000, .price = spec.price}, payload.data() + wire::kHeaderSize);
  for (size_t i = 0; i < spec.ranges.size(); ++i)
    wire::store_range(h, payload.data(), i, spec.ranges[i]);
  return wire::build_frame(frame, payload);
}

wire::Header header_of(const Frame& f) {
  wire::UdpFrame at;
  EXPECT_EQ(wire::locate_udp(f, at), wire::FrameError::kNone);
  wire::Header h;
  EXPECT_EQ(wire::decode({f.data() + at.payload, at.payload_size}, h), wire::HeaderError::kNone);
  return h;
}
float price_in(const Frame& f) {
  wire::UdpFrame at;
  EXPECT_EQ(wire::locate_udp(f, at), wire::FrameError::kNone);
  return fcp::load(f.data() + at.payload + wire::kHeaderSize).price;
}

Frame down(uint32_t sequence, float price = 0, bool six = false, uint16_t size = 1200) {
  return fcp({.price = price,
              .balance = 1e-8F,
              .datagram = size,
              .v6 = six,
              .destination = kGroup4,
              .destination6 = kGroup6,
              .sequence = sequence});
}

TEST(Multicast, EveryBranchGetsACopyWithItsOwnHeaders) {
  for (const bool six : {false, true}) {
    for (const size_t segment : {0, 50, 600}) {
      World w(1, tree_topology());
      const Frame in = down(0, 0.25F, six);
      w.arrive(kLeft, in, 0, segment);
      w.run_until(w.now + 1_ms);
      const Frame right = w.only(kRight), narrow = w.only(kNarrow);
      for (const auto& [link, out] : {std::pair(kRight, right), std::pair(kNarrow, narrow)}) {
        EXPECT_EQ(unsound(out), "");
        EXPECT_TRUE(std::equal(out.begin(), out.begin() + 6, host_mac(link).begin()));
        EXPECT_EQ(out[six ? 21 : 22], in[six ? 21 : 22] - 1);
        ASSERT_EQ(out.size(), in.size());
        EXPECT_TRUE(std::equal(out.begin() + 126, out.end(), in.begin() + 126)) << "payload";
      }
      EXPECT_EQ(price_in(narrow), 0) << "a link without a law";
      EXPECT_GT(price_in(right), 0);
      EXPECT_LT(price_in(right), 0.25F) << "the price starts anew at each branch";
      const Snapshot s = w.snapshot();
      EXPECT_EQ(s.received, 1U);
      EXPECT_EQ(s.originated, 1U);
      EXPECT_EQ(s.forwarded, 2U);
    }
  }
}

TEST(Multicast, CopiesShareThePayload) {
  World w(1, tree_topology());
  w.arrive(kLeft, down(0));
  rte_mbuf* m = w.port(kLeft).in.front();
  rte_mbuf* copy = copy_front(*m, 100, w.pool());
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->nb_segs, 2);
  EXPECT_EQ(copy->pkt_len, m->pkt_len);
  EXPECT_EQ(rte_mbuf_refcnt_read(m), 2);
  EXPECT_EQ(rte_pktmbuf_mtod(copy->next, char*), rte_pktmbuf_mtod(m, char*) + 100);
  rte_mbuf* whole = copy_front(*copy, 100, w.pool());  // of the next router
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->nb_segs, 2);
  EXPECT_EQ(rte_mbuf_refcnt_read(m), 3);
  EXPECT_EQ(rte_pktmbuf_mtod(whole->next, char*), rte_pktmbuf_mtod(m, char*) + 100);
  rte_pktmbuf_free(copy);
  rte_pktmbuf_free(whole);
  EXPECT_EQ(rte_mbuf_refcnt_read(m), 1);
}

TEST(Multicast, OneBranchGetsThePacketItself) {
  World w(1, tree_topology(1));
  w.arrive(kLeft, down(0, 0.25F));
  w.run_until(w.now + 1_ms);
  EXPECT_EQ(unsound(w.only(kRight)), "");
  EXPECT_EQ(w.snapshot().originated, 0U);
  w.arrive(kRight, answer(kRight, {.acknowledgement = 1, .price = 2}));
  w.run_until(w.now + 1_ms);
  EXPECT_FLOAT_EQ(price_in(w.only(kLeft)), 2.25F);
}

TEST(Multicast, PlainDatagramsAreCopiedToo) {
  World w(1, tree_topology());
  w.arrive(kLeft, v4({.destination = kGroup4}, udp(1, 2, bytes(300))));
  w.arrive(kLeft, v6({.destination = kGroup6}, udp(1, 2, bytes(20))));
  w.run_until(w.now + 1_ms);
  for (const size_t link : {kRight, kNarrow}) {
    const auto out = w.sent(link);
    ASSERT_EQ(out.size(), 2U);
    for (const Frame& f : out) EXPECT_EQ(unsound(f), "");
  }
}

TEST(Multicast, AnswersAreJoined) {
  for (const unsigned workers : {1U, 2U}) {
    for (const bool six : {false, true}) {
      World w(workers, tree_topology());
      for (uint32_t s = 0; s < 3; ++s)
        w.arrive(kLeft, down(s, 0.25F * static_cast<float>(s + 1), six), workers - 1);
      w.run_until(w.now + 1_ms);
      w.arrive(kRight,
               answer(kRight, {.sequence = 0, .acknowledgement = 1, .price = 1, .v6 = six}));
      w.arrive(
          kRight,
          answer(kRight, {.sequence = 1, .acknowledgement = 2, .echo = 9, .price = 2, .v6 = six}));
      w.run_until(w.now + 1_ms);
      EXPECT_TRUE(w.sent(kLeft).empty());
      // Packet 0 was lost on this branch.
      w.arrive(
          kNarrow,
          answer(kNarrow, {.sequence = 1, .echo = 9, .price = 8, .v6 = six, .ranges = {{1, 2}}}),
          workers - 1);
      w.run_until(w.now + 1_ms);
      const Frame out = w.only(kLeft);
      EXPECT_EQ(unsound(out), "");
      const wire::Header h = header_of(out);
      EXPECT_EQ(h.kind, Kind::kAck);
      EXPECT_EQ(h.sequence, 1U);
      EXPECT_EQ(h.acknowledgement, 0U);
      EXPECT_EQ(h.echo, 9U);
      EXPECT_EQ(h.token, 77U);
      EXPECT_EQ(h.ranges, 1);
      EXPECT_FLOAT_EQ(price_in(out), 0.5F + 2 + 8);
      const Snapshot s = w.snapshot();
      EXPECT_EQ(s.delivered, 2U) << "answers that were taken";
      EXPECT_EQ(s.held, 0U);
    }
  }
}

TEST(Multicast, PacketsOffTheTreeAreDropped) {
  const auto dropped = [](size_t link, const Frame& f, DropReason why = DropReason::kMulticast) {
    World w(1, tree_topology());
    w.arrive(kLeft, down(0));
    w.run_until(w.now + 1_ms);
    for (const size_t l : {kLeft, kRight, kNarrow}) w.sent(l);
    w.arrive(link, f);
    w.run_until(w.now + 1_ms);
    EXPECT_EQ(w.drops(why), 1U);
    for (const size_t l : {kLeft, kRight, kNarrow}) EXPECT_TRUE(w.sent(l).empty());
  };
  Frame foreign = fcp({.balance = 1e-8F, .source = "10.0.1.3", .destination = kGroup4});
  dropped(kLeft, foreign);
  dropped(kLeft, v4({.destination = "239.1.0.2"}));
  dropped(kLeft, v6({.destination = "ff3e::8000:2"}));
  dropped(kLeft, v4({.destination = kGroup4, .ttl = 1}), DropReason::kTtlExpired);
  dropped(kRight, answer(kRight, {.sequence = 9}));  // of a packet that has not passed
  dropped(kRight, answer(kRight, {.kind = Kind::kData}));
}

TEST(Multicast, ABranchWithASmallerMtuGetsNoCopy) {
  World w(1, tree_topology());
  w.arrive(kLeft, down(0, 0, false, 1400));
  w.run_until(w.now + 1_ms);
  EXPECT_EQ(w.sent(kRight).size(), 1U);
  EXPECT_TRUE(w.sent(kNarrow).empty());
  EXPECT_EQ(w.drops(DropReason::kTooBig), 1U);
}

TEST(Multicast, AnswersWithPricesThatAreNoneAreDropped) {
  World w(1, tree_topology());
  w.arrive(kLeft, down(0));
  w.arrive(kLeft, down(1, -1));
  w.run_until(w.now + 1_ms);
  EXPECT_EQ(w.drops(DropReason::kBadCongestionHeader), 1U);
  w.arrive(kRight, answer(kRight, {.price = NAN}));
  w.run_until(w.now + 1_ms);
  EXPECT_EQ(w.drops(DropReason::kBadCongestionHeader), 2U);
}

TEST(Multicast, HandedAnswersAreDroppedAtTheEnd) {
  World w(2, tree_topology());
  w.arrive(kLeft, down(0), 1);
  w.run_until(w.now + 1_ms);
  w.arrive(kRight, answer(kRight, {.acknowledgement = 1}), 1);
  w.router().worker(1).poll(w.now);  // hands it to a worker that polls no more
  EXPECT_EQ(w.snapshot().held, 1U);
}

TEST(Multicast, HostileBurstsAreAccountedFor) {
  for (const unsigned workers : {1U, 2U}) {
    World w(workers, tree_topology());
    std::mt19937_64 random(workers);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    for (int round = 0; round < (kInstrumented ? 1000 : 3000); ++round) {
      for (size_t n = below(40); n > 0; --n) {
        const auto sequence = static_cast<uint32_t>(below(3000));
        const bool six = below(2) == 0;
        const size_t link = below(4) == 0 ? below(kLinks) : below(3) == 0 ? kLeft : 1 + below(2);
        Frame f = link == kLeft
                      ? down(sequence, static_cast<float>(below(3)), six,
                             static_cast<uint16_t>(150 + below(1400)))
                      : answer(link, {.kind = static_cast<Kind>(1 + below(7)),
                                      .sequence = sequence,
                                      .acknowledgement = static_cast<uint32_t>(random()),
                                      .echo = static_cast<uint32_t>(below(100)),
                                      .price = 1,
                                      .v6 = six,
                                      .ranges = std::vector<wire::SeqRange>(
                                          below(9), {sequence, static_cast<uint32_t>(random())})});
        for (size_t flips = below(3); flips > 0; --flips)
          f[14 + below(std::min<size_t>(f.size() - 14, 110))] ^=
              static_cast<uint8_t>(1U << below(8));
        w.arrive(link, f, static_cast<unsigned>(below(workers)),
                 below(4) == 0 ? 1 + below(300) : 0);
      }
      w.poll(w.now + Nanos(static_cast<int64_t>(below(2'000'000))));
      for (size_t l = 0; l < kLinks; ++l) w.sent(l);
    }
    const Snapshot s = w.snapshot();
    EXPECT_GT(s.forwarded, s.received / 8);
    EXPECT_GT(s.delivered, s.received / 20);
  }
}

TEST(Multicast, CopiesWithoutABufferAreDropped) {
  World w(1, tree_topology());
  w.arrive(kLeft, down(0));
  std::vector<rte_mbuf*> taken;
  while (rte_mbuf* m = rte_pktmbuf_alloc(w.pool())) taken.push_back(m);
  for (int i = 0; i < 3; ++i) {
    rte_pktmbuf_free(taken.back());
    taken.pop_back();
  }
  w.run_until(w.now + 1_ms);
  for (rte_mbuf* m : taken) rte_pktmbuf_free(m);
  EXPECT_EQ(w.drops(DropReason::kNoMbuf), 1U);
  EXPECT_EQ(w.sent(kRight).size() + w.sent(kNarrow).size(), 1U);
}

}  // namespace
}  // namespace turnpike::router::test
