// SPDX-License-Identifier: BSD-3-Clause
// Tests that queries for a host's address, and no other frames, are answered with its MAC.
#include "sender/host/neighbours.h"

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "tests/support/eal.h"
#include "tests/support/sender_world.h"

namespace turnpike::sender::testing {
namespace {

constexpr config::Mac kAsker{2, 0xaa, 0, 0, 0, 9};

std::vector<uint8_t> arp_request(uint32_t target) {
  std::vector<uint8_t> f(60);
  std::fill_n(f.begin(), 6, 0xff);
  std::ranges::copy(kAsker, f.begin() + 6);
  const uint8_t fixed[]{8, 6, 0, 1, 8, 0, 6, 4, 0, 1};
  std::ranges::copy(fixed, f.begin() + 12);
  std::ranges::copy(kAsker, f.begin() + 22);
  wire::store_be32(f.data() + 28, 0x0a000063);
  wire::store_be32(f.data() + 38, target);
  return f;
}

std::vector<uint8_t> solicitation(const config::Ipv6& target) {
  std::vector<uint8_t> f(14 + 40 + 32);
  std::ranges::copy(kAsker, f.begin() + 6);
  wire::store_be16(f.data() + 12, 0x86dd);
  uint8_t* ip = f.data() + 14;
  ip[0] = 0x60;
  ip[5] = 32;
  ip[6] = 58;
  ip[7] = 255;
  ip[8] = 0xfd;
  ip[23] = 0x63;
  ip[24] = 0xff;
  ip[25] = 2;
  uint8_t* icmp = ip + 40;
  icmp[0] = 135;
  std::ranges::copy(target, icmp + 8);
  icmp[24] = 1;
  icmp[25] = 1;
  std::ranges::copy(kAsker, icmp + 26);
  const uint32_t sum = wire::pseudo_header_sum(ip + 8, ip + 24, 58, uint32_t{32});
  wire::store_be16(icmp + 2, wire::checksum_of(sum + wire::sum_words({icmp, 32})));
  return f;
}

struct Answer {
  NeighbourQuery verdict;
  std::vector<uint8_t> frame;
};
Answer ask(std::span<const uint8_t> frame) {
  const config::Topology t = two_hosts();
  rte_mbuf* m = turnpike::testing::make_mbuf(frame);
  Answer a;
  a.verdict = answer_neighbour(*m, t.links[0].ends[0]);
  a.frame = turnpike::testing::bytes_of(m);
  rte_pktmbuf_free(m);
  return a;
}

const config::Mac kOwn{2, 0, 0, 0, 0, 1};
const config::Ipv6 kOwnIpv6 = two_hosts().links[0].ends[0].ipv6.address;

TEST(Neighbours, ArpIsAnswered) {
  const Answer a = ask(arp_request(0x0a000001));
  ASSERT_EQ(a.verdict, NeighbourQuery::kAnswered);
  const uint8_t* f = a.frame.data();
  EXPECT_TRUE(std::equal(kAsker.begin(), kAsker.end(), f));
  EXPECT_TRUE(std::equal(kOwn.begin(), kOwn.end(), f + 6));
  EXPECT_EQ(wire::load_be16(f + 20), 2);
  EXPECT_TRUE(std::equal(kOwn.begin(), kOwn.end(), f + 22));
  EXPECT_EQ(wire::load_be32(f + 28), 0x0a000001U);
  EXPECT_TRUE(std::equal(kAsker.begin(), kAsker.end(), f + 32));
  EXPECT_EQ(wire::load_be32(f + 38), 0x0a000063U);
}

TEST(Neighbours, SolicitationsAreAnswered) {
  const Answer a = ask(solicitation(kOwnIpv6));
  ASSERT_EQ(a.verdict, NeighbourQuery::kAnswered);
  const uint8_t* ip = a.frame.data() + 14;
  const uint8_t* icmp = ip + 40;
  EXPECT_EQ(icmp[0], 136);
  EXPECT_TRUE(std::equal(kOwnIpv6.begin(), kOwnIpv6.end(), ip + 8));
  EXPECT_EQ(ip[39], 0x63);
  EXPECT_TRUE(std::equal(kOwnIpv6.begin(), kOwnIpv6.end(), icmp + 8));
  EXPECT_EQ(icmp[24], 2);
  EXPECT_TRUE(std::equal(kOwn.begin(), kOwn.end(), icmp + 26));
  const uint32_t sum = wire::pseudo_header_sum(ip + 8, ip + 24, 58, uint32_t{32});
  EXPECT_EQ(wire::fold(sum + wire::sum_words({icmp, 32})), 0xffff);
}

TEST(Neighbours, OthersAddressesAreTheirs) {
  EXPECT_EQ(ask(arp_request(0x0a000002)).verdict, NeighbourQuery::kIgnored);
  config::Ipv6 other = kOwnIpv6;
  other[15] = 99;
  EXPECT_EQ(ask(solicitation(other)).verdict, NeighbourQuery::kIgnored);
}

TEST(Neighbours, NothingBrokenIsAnswered) {
  const auto good = solicitation(kOwnIpv6);
  std::mt19937_64 random(1);
  for (size_t byte = 14 + 4; byte < good.size(); ++byte) {
    auto bad = good;
    bad[byte] ^= static_cast<uint8_t>(1U << random() % 8);
    EXPECT_NE(ask(bad).verdict, NeighbourQuery::kAnswered) << byte;
  }
  for (const auto& whole : {good, arp_request(0x0a000001)}) {
    for (size_t size = 1; size < std::min<size_t>(whole.size(), 42); ++size) {
      EXPECT_NE(ask({whole.data(), size}).verdict, NeighbourQuery::kAnswered) << size;
    }
  }
}

}  // namespace
}  // namespace turnpike::sender::testing
