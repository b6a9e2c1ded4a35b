// SPDX-License-Identifier: BSD-3-Clause
// Packets that the router originates: ARP, neighbour discovery, echo, ICMP errors.
#include <algorithm>

#include <gtest/gtest.h>

#include "common/wire/bytes.h"
#include "router/datapath/ingress/ip.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

uint32_t be32(const Frame& f, size_t at) { return wire::load_be32(f.data() + at); }
uint16_t be16(const Frame& f, size_t at) { return wire::load_be16(f.data() + at); }
config::Ipv6 address6(const Frame& f, size_t at) { return load_ipv6(f.data() + at); }
Frame part(const Frame& f, size_t from, size_t n = SIZE_MAX) {
  const size_t end = std::min(f.size(), n == SIZE_MAX ? f.size() : from + n);
  return {f.begin() + static_cast<long>(from), f.begin() + static_cast<long>(end)};
}

/// Sends a frame in at the left link and returns the one answer there.
Frame answer_to(World& w, const Frame& f) {
  w.arrive(kLeft, f);
  w.poll(w.now);
  Frame out = w.only(kLeft);
  EXPECT_EQ(unsound(out), "");
  return out;
}

void expect_silence(const Frame& f) {
  World w;
  w.arrive(kLeft, f);
  w.poll(w.now);
  for (size_t l = 0; l < kLinks; ++l) EXPECT_TRUE(w.sent(l).empty());
}

Frame arp(uint16_t opcode, std::string_view target) {
  Frame a{0, 1, 8, 0, 6, 4, 0, static_cast<uint8_t>(opcode)};
  a.resize(28);
  const wire::Mac mac = host_mac(kLeft);
  std::copy(mac.begin(), mac.end(), a.begin() + 8);
  wire::store_be32(a.data() + 14, ipv4("10.0.1.2"));
  wire::store_be32(a.data() + 24, ipv4(target));
  a.resize(46);  // padded as Ethernet does
  return a;
}

TEST(Arp, AnswersForItsOwnAddressOnThatLink) {
  for (const bool tagged : {false, true}) {
    World w;
    Frame request = ethernet(kLeft, kEtherTypeArp, arp(1, "10.0.1.1"),
                             tagged ? std::optional<uint16_t>(42) : std::nullopt);
    std::fill_n(request.begin(), 6, 0xff);
    const Frame out = answer_to(w, request);
    const size_t at = tagged ? 18 : 14;
    ASSERT_EQ(out.size(), at + 28);
    EXPECT_TRUE(std::equal(out.begin(), out.begin() + 6, host_mac(kLeft).begin()));
    EXPECT_TRUE(std::equal(out.begin() + 6, out.begin() + 12, router_mac(kLeft).begin()));
    if (tagged) {
      EXPECT_EQ(be16(out, 14), 42);
    }
    EXPECT_EQ(be16(out, at + 6), 2);
    EXPECT_EQ(part(out, at + 8, 6), part(out, 6, 6));
    EXPECT_EQ(be32(out, at + 14), ipv4("10.0.1.1"));
    EXPECT_EQ(be32(out, at + 24), ipv4("10.0.1.2"));
    EXPECT_EQ(w.snapshot().delivered, 1U);
    EXPECT_EQ(w.snapshot().originated, 1U);
  }
}

TEST(Arp, OthersAreNotAnswered) {
  struct Case {
    Frame f;
    DropReason why;
  };
  Frame odd = arp(1, "10.0.1.1");
  odd[1] = 6;
  for (const Case& c : {Case{arp(1, "10.0.1.2"), DropReason::kForeignArp},
                        {arp(1, "10.0.2.1"), DropReason::kForeignArp},
                        {arp(2, "10.0.1.1"), DropReason::kForeignArp},
                        {odd, DropReason::kBadArp},
                        {Frame(20), DropReason::kBadArp}}) {
    World w;
    w.arrive(kLeft, ethernet(kLeft, kEtherTypeArp, c.f));
    w.poll(w.now);
    w.expect_one_drop(c.why);
    EXPECT_TRUE(w.sent(kLeft).empty());
  }
  World w;
  Frame from_group = ethernet(kLeft, kEtherTypeArp, arp(1, "10.0.1.1"));
  from_group[6] |= 1;
  w.arrive(kLeft, from_group);
  w.poll(w.now);
  w.expect_one_drop(DropReason::kMartianSource);
}

Frame solicitation(std::string_view source, std::string_view destination, std::string_view target,
                   const Frame& options, uint8_t hop_limit = 255, uint8_t code = 0) {
  const Ipv6Spec at{
      .source = source, .destination = destination, .next = kIcmp6, .hop_limit = hop_limit};
  const config::Ipv6 t = ipv6(target);
  Frame body(t.size() + options.size());
  std::ranges::copy(options, std::ranges::copy(t, body.begin()).out);
  Frame f = v6(at, icmp6(at, 135, code, 0, body));
  const config::Ipv6 d = ipv6(destination);
  if (d[0] == 0xff) {
    f[0] = f[1] = 0x33;
    std::copy_n(d.begin() + 12, 4, f.begin() + 2);
  }
  return f;
}
const Frame kSourceMac{1, 1, 2, 0, 0, 0, 2, 1};

TEST(Neighbour, AnswersSolicitationsForItsAddresses) {
  for (const char* target : {"fd00:1::1", "fe80::ff:fe00:101"}) {
    for (const bool unicast : {false, true}) {
      World w;
      const Frame out = answer_to(
          w, solicitation("fe80::2", unicast ? "fd00:1::1" : "ff02::1:ff00:1", target, kSourceMac));
      ASSERT_EQ(out.size(), 14U + 40 + 32) << target;
      EXPECT_TRUE(std::equal(out.begin(), out.begin() + 6, host_mac(kLeft).begin()));
      EXPECT_EQ(address6(out, 22), ipv6(target));
      EXPECT_EQ(address6(out, 38), ipv6("fe80::2"));
      EXPECT_EQ(out[21], 255);
      EXPECT_EQ(out[54], 136);
      EXPECT_EQ(out[58] & 0xe0, 0xe0);
      EXPECT_EQ(address6(out, 62), ipv6(target));
      EXPECT_EQ(be16(out, 78), 0x0201);
      EXPECT_TRUE(std::equal(out.begin() + 80, out.end(), router_mac(kLeft).begin()));
    }
  }
}

TEST(Neighbour, DuplicateDetectionIsAnsweredToAllNodes) {
  World w;
  const Frame out = answer_to(w, solicitation("::", "ff02::1:ff00:1", "fd00:1::1", {}));
  ASSERT_EQ(out.size(), 86U);
  EXPECT_EQ(address6(out, 38), ipv6("ff02::1"));
  EXPECT_EQ(out[58] & 0xe0, 0xa0);
}

TEST(Neighbour, OthersAreNotAnswered) {
  struct Case {
    Frame f;
    DropReason why;
  };
  using R = DropReason;
  Frame checksum = solicitation("fe80::2", "ff02::1:ff00:1", "fd00:1::1", kSourceMac);
  checksum[56] ^= 1;
  const Ipv6Spec advert{
      .source = "fe80::2", .destination = "ff02::1", .next = kIcmp6, .hop_limit = 255};
  Frame advertisement = v6(advert, icmp6(advert, 136, 0, 0, bytes(16)));
  for (const Case& c :
       {Case{solicitation("fe80::2", "ff02::1:ff00:2", "fd00:1::2", kSourceMac),
             R::kForeignNeighbour},
        {solicitation("fe80::2", "ff02::1:ff00:1", "fd00:2::1", kSourceMac), R::kForeignNeighbour},
        {advertisement, R::kForeignNeighbour},
        {solicitation("fe80::2", "ff02::1:ff00:1", "fd00:1::1", kSourceMac, 64), R::kBadNeighbour},
        {solicitation("fe80::2", "ff02::1:ff00:1", "fd00:1::1", kSourceMac, 255, 1),
         R::kBadNeighbour},
        {solicitation("fe80::2", "ff02::1:ff00:1", "ff02::1", kSourceMac), R::kBadNeighbour},
        {solicitation("fe80::2", "ff02::1:ff00:1", "fd00:1::1", {1, 0, 0, 0, 0, 0, 0, 0}),
         R::kBadNeighbour},
        {solicitation("fe80::2", "ff02::1:ff00:1", "fd00:1::1", {1, 2, 0, 0, 0, 0, 0, 0}),
         R::kBadNeighbour},
        {solicitation("fe80::2", "ff02::1:ff00:1", "fd00:1::1", {1}), R::kBadNeighbour},
        {solicitation("::", "ff02::1:ff00:1", "fd00:1::1", kSourceMac), R::kBadNeighbour},
        {solicitation("::", "ff02::1", "fd00:1::1", {}), R::kBadNeighbour},
        {checksum, R::kBadIcmp}}) {
    World w;
    w.arrive(kLeft, c.f);
    w.poll(w.now);
    w.expect_one_drop(c.why);
    EXPECT_TRUE(w.sent(kLeft).empty());
  }
}

TEST(Echo, RepliesFromTheAddressThatWasAsked) {
  for (const size_t segment : {size_t{0}, size_t{100}}) {
    for (const char* own : {"10.0.1.1", "10.0.3.1"}) {
      World w;
      const Frame message = icmp(8, 0, 0x00070009, bytes(301));
      w.arrive(kLeft, v4({.destination = own, .protocol = kIcmp, .ttl = 1}, message), 0, segment);
      w.poll(w.now);
      Frame out = w.only(kLeft);
      EXPECT_EQ(unsound(out), "");
      EXPECT_EQ(be32(out, 26), ipv4(own));
      EXPECT_EQ(be32(out, 30), ipv4("10.0.1.2"));
      EXPECT_EQ(out[22], kDefaultTtl);
      EXPECT_EQ(out[34], 0);
      EXPECT_EQ(part(out, 38), part(message, 4));
      EXPECT_EQ(w.snapshot().delivered, 1U);
    }
    for (const char* from : {"fd00:1::2", "fe80::2"}) {
      World w;
      const Ipv6Spec at{.source = from,
                        .destination = from[1] == 'd' ? "fd00:3::1" : "fe80::ff:fe00:101",
                        .next = kIcmp6,
                        .hop_limit = 1};
      const Frame message = icmp6(at, 128, 0, 0x00070009, bytes(300));
      w.arrive(kLeft, v6(at, message), 0, segment);
      w.poll(w.now);
      Frame out = w.only(kLeft);
      EXPECT_EQ(unsound(out), "");
      EXPECT_EQ(address6(out, 22), ipv6(at.destination));
      EXPECT_EQ(address6(out, 38), ipv6(from));
      EXPECT_EQ(out[54], 129);
      EXPECT_EQ(part(out, 58), part(message, 4));
    }
  }
}

TEST(Echo, BadOnesEndInCountersAndOtherMessagesAreTaken) {
  struct Case {
    Frame f;
    DropReason why;
  };
  Frame wrong = icmp(8, 0, 1, bytes(8));
  wrong[9] ^= 1;
  const Ipv4Spec own{.destination = "10.0.1.1", .protocol = kIcmp};
  Ipv4Spec piece = own;
  piece.fragment = 0x2000;
  for (const Case& c : {Case{v4(own, wrong), DropReason::kBadIcmp},
                        {v4(own, Frame{8, 0, 0}), DropReason::kBadIcmp},
                        {v4(piece, icmp(8, 0, 1, bytes(8))), DropReason::kLocalFragment},
                        {v6({.destination = "fd00:1::1", .next = 44},
                            Frame{kIcmp6, 0, 0, 1, 0, 0, 0, 0, 128, 0, 0, 0}),
                         DropReason::kLocalFragment},
                        {v6({.destination = "fd00:1::1", .next = kIcmp6}, Frame{128, 0, 0, 0}),
                         DropReason::kBadIcmp}}) {
    World w;
    w.arrive(kLeft, c.f);
    w.poll(w.now);
    w.expect_one_drop(c.why);
    EXPECT_TRUE(w.sent(kLeft).empty());
  }
  World w;
  w.arrive(kLeft, v4(own, icmp(0, 0, 1, bytes(8))));
  w.arrive(kLeft, v4(own, icmp(3, 0, 1, bytes(28))));
  w.poll(w.now);
  EXPECT_EQ(w.snapshot().delivered, 2U);
  EXPECT_EQ(w.snapshot().originated, 0U);
}

struct ErrorCase {
  const char* name;
  Frame offending;
  uint8_t type, code;
  uint32_t rest;  // MTU, pointer
};

TEST(Errors, SayWhyAndQuoteThePacketAsItCame) {
  for (const ErrorCase& c : {
           ErrorCase{"ttl", v4({.ttl = 1}), 11, 0, 0},
           {"net", v4({.destination = "9.9.9.9"}), 3, 0, 0},
           {"host", v4({.destination = "10.0.2.9"}), 3, 1, 0},
           {"protocol", v4({.destination = "10.0.1.1", .protocol = 6}, bytes(40)), 3, 2, 0},
           {"port", v4({.destination = "10.0.3.1"}), 3, 3, 0},
           {"too big", plain(1501), 3, 4, 1500},
           {"too big, narrow",
            v4({.destination = "172.16.5.1", .fragment = 0x4000}, udp(1, 2, bytes(1260))), 3, 4,
            1280},
           {"first fragment", v4({.ttl = 1, .fragment = 0x2000}), 11, 0, 0},
           {"echo request", v4({.protocol = kIcmp, .ttl = 1}, icmp(8, 0, 1, bytes(9))), 11, 0, 0},
       }) {
    SCOPED_TRACE(c.name);
    World w;
    const Frame out = answer_to(w, c.offending);
    EXPECT_EQ(be32(out, 26), ipv4("10.0.1.1")) << "source: the interface it leaves by";
    EXPECT_EQ(be32(out, 30), ipv4("10.0.1.2"));
    EXPECT_EQ(out[34], c.type);
    EXPECT_EQ(out[35], c.code);
    EXPECT_EQ(be32(out, 38), c.rest);
    EXPECT_EQ(out.size() - 14, std::min<size_t>(576, 28 + c.offending.size() - 14));
    EXPECT_EQ(part(out, 42), part(c.offending, 14, out.size() - 42));
    EXPECT_EQ(w.snapshot().originated, 1U);
  }
  for (const ErrorCase& c : {
           ErrorCase{"hops", v6({.hop_limit = 1}), 3, 0, 0},
           {"no route", v6({.destination = "2001:db8::1"}), 1, 0, 0},
           {"address", v6({.destination = "fd00:2::9"}), 1, 3, 0},
           {"port", v6({.destination = "fd00:1::1"}), 1, 4, 0},
           {"next header", v6({.destination = "fd00:1::1", .next = 6}, bytes(40)), 4, 1, 6},
           {"too big", plain(1501, true), 2, 0, 1500},
       }) {
    SCOPED_TRACE(c.name);
    World w;
    const Frame out = answer_to(w, c.offending);
    EXPECT_EQ(address6(out, 22), ipv6("fd00:1::1"));
    EXPECT_EQ(address6(out, 38), ipv6("fd00:1::2"));
    EXPECT_EQ(out[54], c.type);
    EXPECT_EQ(out[55], c.code);
    EXPECT_EQ(be32(out, 58), c.rest);
    EXPECT_EQ(out.size() - 14, std::min<size_t>(1280, 48 + c.offending.size() - 14));
    EXPECT_EQ(part(out, 62), part(c.offending, 14, out.size() - 62));
  }
}

TEST(Errors, QuoteAcrossSegmentsAndKeepTheTag) {
  World w;
  const Frame offending = plain(3000, false, 77);
  w.arrive(kLeft, offending, 0, 200);
  w.poll(w.now);
  Frame out = w.only(kLeft);
  EXPECT_EQ(unsound(out), "");
  EXPECT_EQ(be16(out, 14), 77);
  EXPECT_EQ(part(out, 46), part(offending, 18, 548));
}

TEST(Errors, NeverAboutWhatMustNotBeAnswered) {
  const Frame nested = bytes(28);
  expect_silence(v4({.protocol = kIcmp, .ttl = 1}, icmp(3, 0, 0, nested)));
  expect_silence(v4({.protocol = kIcmp, .ttl = 1}, icmp(11, 0, 0, nested)));
  expect_silence(v4({.protocol = kIcmp, .ttl = 1}, {}));
  expect_silence(v4({.ttl = 1, .fragment = 5}));
  expect_silence(v4({.source = "127.0.0.1", .ttl = 1}));
  expect_silence(v4({.destination = "10.0.2.255"}));
  expect_silence(v4({.destination = "224.0.0.5"}));
  expect_silence(v4({.source = "9.9.9.9", .ttl = 1}));  // no route back
  const Ipv6Spec at{.next = kIcmp6, .hop_limit = 1};
  expect_silence(v6(at, icmp6(at, 1, 0, 0, nested)));
  expect_silence(v6(at, icmp6(at, 137, 0, 0, nested)));
  expect_silence(v6({.source = "fe80::9", .hop_limit = 1}));
  expect_silence(v6({.destination = "ff02::9"}));
  Frame processes = v4({.ttl = 1});
  std::fill_n(processes.begin(), 6, 0xff);
  expect_silence(processes);
}

TEST(Errors, AreRateLimitedPerWorker) {
  RouterOptions options;
  options.errors_per_second = 10;
  options.errors_at_once = 5;
  World w(1, topology(), options);
  for (int i = 0; i < 40; ++i) w.arrive(kLeft, v4({.ttl = 1}));
  w.poll(w.now);
  EXPECT_EQ(w.sent(kLeft).size(), 5U);
  EXPECT_EQ(w.snapshot().suppressed_errors, 35U);
  for (int i = 0; i < 40; ++i) w.arrive(kLeft, v4({.ttl = 1}));
  w.poll(w.now + 301_ms);
  EXPECT_EQ(w.sent(kLeft).size(), 3U);
  EXPECT_EQ(w.drops(DropReason::kTtlExpired), 80U);
}

TEST(Errors, WithoutABufferNothingIsSaid) {
  World w;
  w.arrive(kLeft, v4({.ttl = 1}));
  std::vector<rte_mbuf*> hoard;
  while (rte_mbuf* m = rte_pktmbuf_alloc(w.pool())) hoard.push_back(m);
  w.poll(w.now);
  EXPECT_EQ(w.snapshot().suppressed_errors, 1U);
  w.expect_one_drop(DropReason::kTtlExpired);
  for (rte_mbuf* m : hoard) rte_pktmbuf_free(m);
}

}  // namespace
}  // namespace turnpike::router::test
