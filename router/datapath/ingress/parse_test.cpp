// SPDX-License-Identifier: BSD-3-Clause
// Each kind of invalid frame has its own counter; valid frames pass.
#include <cmath>

#include <gtest/gtest.h>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/ingress/ip.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

void mend_ipv4(Frame& f, size_t ip = 14) {
  wire::store_be16(f.data() + ip + 10, 0);
  const size_t n = std::min<size_t>((f[ip] & 15U) * 4, f.size() - ip);
  wire::store_be16(f.data() + ip + 10, wire::checksum_of(wire::sum_words({f.data() + ip, n})));
}

struct Case {
  const char* name;
  Frame frame;
  DropReason reason;
};

template <class Edit>
Frame edited(Frame f, Edit edit) {
  edit(f);
  return f;
}

Frame extension(uint8_t next, uint8_t units, const Frame& rest) {
  Frame f(8 + units * 8U);
  f[0] = next;
  f[1] = units;
  f.insert(f.end(), rest.begin(), rest.end());
  return f;
}

std::vector<Case> bad_frames() {
  using R = DropReason;
  std::vector<Case> c;
  const Frame good = plain(100);
  const auto turnpike = [](auto edit) {
    return edited(fcp({.checksum = false}), [&](Frame& f) { edit(f.data() + 42); });
  };
  for (const size_t n : {1, 13})
    c.push_back(
        {"short ethernet", Frame(good.begin(), good.begin() + static_cast<long>(n)), R::kRunt});
  c.push_back(
      {"short tag", edited(plain(100, false, 5), [](Frame& f) { f.resize(16); }), R::kRunt});
  c.push_back({"short IPv4", Frame(good.begin(), good.begin() + 33), R::kRunt});
  c.push_back({"short IPv6", edited(plain(100, true), [](Frame& f) { f.resize(53); }), R::kRunt});
  c.push_back({"other MAC", edited(good, [](Frame& f) { f[5] ^= 1; }), R::kNotForUs});
  c.push_back({"v4 in broadcast", edited(good, [](Frame& f) { std::fill_n(f.begin(), 6, 0xff); }),
               R::kLinkBroadcast});
  c.push_back({"v6 in multicast", edited(plain(100, true), [](Frame& f) { f[0] |= 1; }),
               R::kLinkBroadcast});
  c.push_back({"ethertype", ethernet(kLeft, 0x88cc, bytes(50)), R::kUnknownEthertype});
  c.push_back({"two tags", ethernet(kLeft, 0x8100, bytes(50), 7), R::kUnknownEthertype});
  c.push_back({"v6 in v4",
               edited(good,
                      [](Frame& f) {
                        f[14] = 0x65;
                        mend_ipv4(f);
                      }),
               R::kBadVersion});
  c.push_back(
      {"v4 in v6", edited(plain(100, true), [](Frame& f) { f[14] = 0x45; }), R::kBadVersion});
  c.push_back({"IHL 4",
               edited(good,
                      [](Frame& f) {
                        f[14] = 0x44;
                        mend_ipv4(f);
                      }),
               R::kBadHeaderLength});
  c.push_back({"IHL past the end",
               edited(v4({}, {}),
                      [](Frame& f) {
                        f[14] = 0x4f;
                        mend_ipv4(f);
                      }),
               R::kBadHeaderLength});
  c.push_back({"checksum", edited(good, [](Frame& f) { f[24] ^= 1; }), R::kBadChecksum});
  c.push_back({"truncated v4", edited(good, [](Frame& f) { f.resize(100); }), R::kBadLength});
  c.push_back({"total below header",
               edited(good,
                      [](Frame& f) {
                        wire::store_be16(f.data() + 16, 19);
                        mend_ipv4(f);
                      }),
               R::kBadLength});
  c.push_back(
      {"truncated v6", edited(plain(100, true), [](Frame& f) { f.resize(100); }), R::kBadLength});
  c.push_back({"jumbogram", v6({.next = 0}, {}), R::kBadLength});
  c.push_back({"endless extensions", v6({.next = 60}, extension(60, 200, {})), R::kBadExtension});
  Frame chain = extension(17, 0, udp(1, 2, {}));
  for (int i = 0; i < 8; ++i) chain = extension(60, 0, chain);
  c.push_back({"many extensions", v6({.next = 60}, chain), R::kBadExtension});
  c.push_back({"cut extension", v6({.next = 43}, bytes(4)), R::kBadExtension});
  for (const char* a : {"0.1.2.3", "127.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
                        "10.0.1.1", "10.0.3.1"})
    c.push_back({a, v4({.source = a}), R::kMartianSource});
  for (const char* a : {"::1", "::", "ff02::1", "fd00:1::1", "fd00:3::1"})
    c.push_back({a, v6({.source = a}), R::kMartianSource});
  for (const char* a : {"0.1.2.3", "127.9.9.9", "250.0.0.1"})
    c.push_back({a, v4({.destination = a}), R::kMartianDestination});
  for (const char* a : {"::1", "::"})
    c.push_back({a, v6({.destination = a}), R::kMartianDestination});
  c.push_back({"v4 link-local", v4({.source = "169.254.1.1"}), R::kLinkLocal});
  c.push_back({"to v4 link-local", v4({.destination = "169.254.1.1"}), R::kLinkLocal});
  c.push_back({"v6 link-local", v6({.source = "fe80::1"}), R::kLinkLocal});
  c.push_back({"to v6 link-local", v6({.destination = "fe80::1"}), R::kLinkLocal});
  c.push_back({"v4 multicast", v4({.destination = "224.0.0.251"}), R::kMulticast});
  c.push_back({"v6 multicast", v6({.destination = "ff02::fb"}), R::kMulticast});
  for (const char* a : {"255.255.255.255", "10.0.2.255", "10.0.2.0"})
    c.push_back({a, v4({.destination = a}), R::kBroadcast});
  c.push_back({"turnpike version", turnpike([](uint8_t* t) { t[0] = 0x23; }), R::kTurnpikeVersion});
  c.push_back({"turnpike kind 0", turnpike([](uint8_t* t) { t[0] = 0x10; }), R::kTurnpikeKind});
  c.push_back({"turnpike kind 8", turnpike([](uint8_t* t) { t[0] = 0x18; }), R::kTurnpikeKind});
  c.push_back({"turnpike protocol", turnpike([](uint8_t* t) { t[1] = 200; }), R::kUnknownProtocol});
  c.push_back({"turnpike protocol 0", turnpike([](uint8_t* t) { t[1] = 0; }), R::kUnknownProtocol});
  c.push_back({"turnpike ranges", turnpike([](uint8_t* t) { t[2] = 9; }), R::kTurnpikeLength});
  c.push_back({"turnpike length", turnpike([](uint8_t* t) { t[3] = 10; }), R::kTurnpikeLength});
  c.push_back({"turnpike length 0", turnpike([](uint8_t* t) { t[3] = 0; }), R::kTurnpikeLength});
  c.push_back({"turnpike cut", v4({}, udp(4747, 9, bytes(3, 0x13))), R::kTurnpikeLength});
  c.push_back({"turnpike empty", v4({}, udp(9, 4747, {})), R::kTurnpikeLength});
  c.push_back({"UDP length beyond",
               edited(fcp({}), [](Frame& f) { wire::store_be16(f.data() + 38, 9000); }),
               R::kTurnpikeLength});
  c.push_back({"UDP length 7",
               edited(fcp({}), [](Frame& f) { wire::store_be16(f.data() + 38, 7); }),
               R::kTurnpikeLength});
  c.push_back({"no route", v4({.destination = "9.9.9.9"}), R::kNoRoute});
  c.push_back({"no v6 route", v6({.destination = "2001:db8::1"}), R::kNoRoute});
  c.push_back({"no neighbour", v4({.destination = "10.0.2.77"}), R::kNoNeighbour});
  c.push_back({"no v6 neighbour", v6({.destination = "fd00:2::77"}), R::kNoNeighbour});
  c.push_back({"TTL 1", v4({.ttl = 1}), R::kTtlExpired});
  c.push_back({"TTL 0", v4({.ttl = 0}), R::kTtlExpired});
  c.push_back({"hop limit 1", v6({.hop_limit = 1}), R::kTtlExpired});
  c.push_back({"DF and too big", plain(3000), R::kTooBig});
  c.push_back({"v6 and too big", plain(3000, true), R::kTooBig});
  return c;
}

TEST(Parse, EveryUnsoundFrameHasItsReason) {
  for (const Case& c : bad_frames()) {
    SCOPED_TRACE(c.name);
    World w;
    w.arrive(kLeft, c.frame);
    w.poll(w.now);
    w.expect_one_drop(c.reason);
    EXPECT_TRUE(w.sent(kRight).empty());
  }
}

TEST(Parse, NothingOfATruncatedFrameIsReadBeyondItsEnd) {
  // Every prefix of valid frames, in one segment and in segments of 7 bytes.
  World w;
  uint64_t sent = 0;
  for (const Frame& whole : {plain(200, false, 9), plain(200, true), fcp({.datagram = 200}),
                             fcp({.datagram = 200, .v6 = true})}) {
    for (size_t n = 1; n < whole.size(); ++n) {
      for (const size_t segment : {size_t{0}, size_t{7}}) {
        w.arrive(kLeft, Frame(whole.begin(), whole.begin() + static_cast<long>(n)), 0, segment);
        w.poll(w.now);
        EXPECT_EQ(w.snapshot().dropped(), ++sent) << n;
      }
    }
  }
}

TEST(Parse, ForwardsWithNewMacsAndOneTtlLess) {
  for (const bool six : {false, true}) {
    World w;
    const Frame in = plain(100, six);
    w.arrive(kLeft, in);
    w.poll(w.now);
    Frame expected = in;
    std::copy_n(host_mac(kRight).begin(), 6, expected.begin());
    std::copy_n(router_mac(kRight).begin(), 6, expected.begin() + 6);
    --expected[six ? 21 : 22];
    if (!six) mend_ipv4(expected);
    EXPECT_EQ(w.only(kRight), expected);
  }
}

TEST(Parse, ChecksumIsRightAtEveryTtl) {
  World w;
  for (unsigned ttl = 2; ttl < 256; ++ttl) {
    for (const uint16_t id : {0, 1, 0xfe00, 0xff00, 0x1234}) {
      w.arrive(kLeft, v4({.ttl = static_cast<uint8_t>(ttl), .id = id}));
      w.run_until(w.now + 1_ms);
      EXPECT_EQ(unsound(w.only(kRight)), "") << ttl;
    }
  }
}

TEST(Parse, TagOptionsAndPaddingPass) {
  World w;
  w.arrive(kLeft, plain(100, false, 0x6123));
  w.poll(w.now);
  const Frame tagged = w.only(kRight);
  EXPECT_EQ(wire::load_be16(tagged.data() + 12), 0x8100);
  EXPECT_EQ(wire::load_be16(tagged.data() + 14), 0x6123);
  EXPECT_EQ(unsound(tagged), "");

  w.now += 1_s;
  w.arrive(kLeft, v4({.options = {1, 1, 1, 0}}));
  w.poll(w.now);
  EXPECT_EQ(unsound(w.only(kRight)), "");

  w.now += 1_s;
  Frame padded = v4({}, udp(1, 2, {}));
  padded.resize(60, 0xee);
  w.arrive(kLeft, padded);
  w.poll(w.now);
  const Frame out = w.only(kRight);
  EXPECT_EQ(out.size(), 14U + 28U);
  EXPECT_EQ(unsound(out), "");
}

TEST(Parse, PacketsInManySegmentsLeaveAsTheyCame) {
  for (const size_t segment : {1, 5, 14, 33, 100, 1000}) {
    for (const bool six : {false, true}) {
      World w;
      w.arrive(kLeft, plain(1400, six), 0, segment);
      w.arrive(kLeft, fcp({.balance = 1e-8F, .v6 = six}), 0, segment);
      w.run_until(w.now + 1_s);
      const auto out = w.sent(kRight);
      ASSERT_EQ(out.size(), 2U) << segment;
      for (const Frame& f : out) EXPECT_EQ(unsound(f), "");
      EXPECT_GT(price_of(out[1]), 0);
      EXPECT_EQ(w.snapshot().links[kRight].stamped, 1U);
    }
  }
}

TEST(Parse, SharedHeadersThatWouldHaveToMoveAreDropped) {
  World w;
  w.arrive(kLeft, plain(1400), 0, 40);
  rte_mbuf* m = w.port(kLeft).in.front();
  for (rte_mbuf* s = m; s != nullptr; s = s->next) rte_mbuf_refcnt_update(s, 1);
  w.poll(w.now);
  w.expect_one_drop(DropReason::kScatteredHeaders);
  rte_pktmbuf_free(m);
}

TEST(Parse, FragmentsUnknownTransportsAndOtherPortsArePlain) {
  const Frame junk = bytes(60, 0xff);
  for (const Frame& f :
       {v4({.fragment = 0x2000}, udp(4747, 4747, junk)), v4({.fragment = 0x0010}, junk),
        v4({.protocol = 99}, junk), v4({.protocol = 6}, junk), v4({}, udp(4746, 4748, junk)),
        v4({}, bytes(5)), v6({.next = 44}, extension(17, 0, udp(1, 2, junk))),
        v6({.next = 0}, extension(17, 0, udp(4, 5, junk))), v6({.next = 59}, {})}) {
    World w;
    w.arrive(kLeft, f);
    w.poll(w.now);
    EXPECT_EQ(w.sent(kRight).size(), 1U);
    EXPECT_EQ(w.snapshot().links[kRight].stamped, 0U);
  }
}

TEST(Parse, TurnpikeIsFoundBehindExtensionsAndByEitherPort) {
  World w;
  Frame six = fcp({.balance = 1e-8F, .datagram = 1000, .v6 = true});
  const Frame transport(six.begin() + 54, six.end());
  w.arrive(kLeft, v6({.next = 0}, extension(60, 0, extension(17, 1, transport))));
  Frame from = fcp({.balance = 1e-8F});
  wire::store_be16(from.data() + 36, 999);
  w.arrive(kLeft, from);
  Frame to = fcp({.balance = 1e-8F});
  wire::store_be16(to.data() + 34, 999);
  w.arrive(kLeft, to);
  w.poll(w.now);
  EXPECT_EQ(w.snapshot().links[kRight].stamped, 3U);
}

TEST(Parse, BytesReceivedAreCountedLikeBytesSent) {
  constexpr int64_t kOverhead = 38;
  config::Topology t = topology();
  for (const size_t link : {kLeft, kNarrow})
    for (config::Direction& d : t.links[link].directions) d.overhead = Bytes(kOverhead);
  World w(1, t);
  // A padded frame, one with a tag, one with options, and a large one.
  const Frame datagrams[] = {
      ipv4_datagram({.destination = "172.16.5.1"}, bytes(1)),
      ipv4_datagram({.destination = "172.16.5.1"}, bytes(90)),
      ipv4_datagram({.destination = "172.16.5.1", .options = bytes(4, 0)}, bytes(8)),
      ipv4_datagram({.destination = "172.16.5.1"}, bytes(1200))};
  uint64_t expected = 0;
  for (const Frame& d : datagrams) {
    Frame f =
        ethernet(kLeft, 0x0800, d, d.size() == 110 ? std::optional<uint16_t>(7) : std::nullopt);
    if (f.size() < 60) f.resize(60);
    w.arrive(kLeft, f);
    expected += d.size() + kOverhead;
  }
  w.run_until(w.now + 1_ms);
  ASSERT_EQ(w.sent(kNarrow).size(), std::size(datagrams));
  EXPECT_EQ(w.snapshot().links[kNarrow].tx_bytes, expected);
  EXPECT_EQ(w.snapshot().links[kLeft].rx_bytes, expected);
}

TEST(Parse, BytesOfAFrameWithAFalseLengthAreThoseOfTheFrame) {
  World w;
  Frame f = v6({});
  f[18] = 0xff;  // payload length
  w.arrive(kLeft, f);
  w.arrive(kLeft, Frame(f.begin(), f.begin() + 10));
  w.poll(w.now);
  EXPECT_EQ(w.drops(DropReason::kBadLength), 1U);
  EXPECT_EQ(w.drops(DropReason::kRunt), 1U);
  EXPECT_EQ(w.snapshot().links[kLeft].rx_bytes, f.size() - 14 + 10);
}

}  // namespace
}  // namespace turnpike::router::test
