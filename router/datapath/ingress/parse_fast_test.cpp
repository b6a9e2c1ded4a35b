// SPDX-License-Identifier: BSD-3-Clause
// The fast path accepts only packets that the full checks accept, with the same result.
#include "router/datapath/ingress/parse_fast.h"

#include <random>

#include <gtest/gtest.h>

#include "router/datapath/ingress/parse.h"
#include "tests/support/eal.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

std::vector<Frame> sound_frames() {
  Frame padded = plain(40);
  padded.resize(64);
  std::vector<Frame> frames{plain(100),
                            plain(100, true),
                            plain(100, false, 5),
                            padded,
                            fcp({.datagram = 100}),
                            fcp({.datagram = 100, .v6 = true}),
                            fcp({.kind = wire::Kind::kSyn, .datagram = 100}),
                            fcp({.kind = wire::Kind::kAck, .datagram = 100})};
  frames.push_back(ethernet(kLeft, wire::kEtherTypeIpv4,
                            ipv4_datagram({.protocol = kTcp, .fragment = 0x4000}, bytes(40))));
  return frames;
}

// Changes bytes that checks depend on most often, and corrects the checksum half of the time, so
// that the checks after it are reached.
Frame mutated(Frame f, std::mt19937& random) {
  const auto edits = random() % 4;
  for (unsigned k = 0; k < edits; ++k)
    f[random() % std::min<size_t>(f.size(), 80)] = static_cast<uint8_t>(random());
  if (random() % 8 == 0) f.resize(14 + random() % 90);
  if (random() % 2 == 0 && f.size() >= 34) {
    f[24] = f[25] = 0;
    wire::store_be16(f.data() + 24, wire::checksum_of(wire::sum_words({f.data() + 14, 20})));
  }
  return f;
}

struct Parsed {
  PacketInfo info{.input = kLeft};
  uint32_t length = 0;
};

void expect_same(const Parsed& quick, const Parsed& full) {
  EXPECT_EQ(quick.length, full.length);
  EXPECT_EQ(quick.info.input, full.info.input);
  EXPECT_EQ(quick.info.l3, full.info.l3);
  EXPECT_EQ(quick.info.l4, full.info.l4);
  EXPECT_EQ(quick.info.datagram, full.info.datagram);
  EXPECT_EQ(quick.info.flags, full.info.flags);
  EXPECT_EQ(quick.info.l4_protocol, full.info.l4_protocol);
  EXPECT_EQ(quick.info.protocol, full.info.protocol);
  EXPECT_EQ(quick.info.congestion, full.info.congestion);
}

TEST(ParseUsual, PassesWhatTheFullChecksPass) {
  World keep_eal_up;
  const auto tables = Tables::build(topology(), 0, -1);
  ASSERT_TRUE(tables) << tables.error();
  const uint64_t mac = mac_word(router_mac(kLeft));
  const std::vector<Frame> sound = sound_frames();
  std::mt19937 random(3);
  unsigned usual = 0, usual_data = 0, others = 0;
  for (int round = 0; round < 200'000 && !HasFailure(); ++round) {
    const Frame frame = mutated(sound[random() % sound.size()], random);
    rte_mbuf* m = testing::make_mbuf(frame, random() % 16 == 0 ? 40 : SIZE_MAX);
    rte_mbuf* n = testing::make_mbuf(frame);
    Parsed quick, full;
    if (parse_fast(*m, quick.info, mac, **tables)) {
      ++usual;
      quick.length = m->pkt_len;
      EXPECT_EQ(parse_fully(*n, full.info, **tables), DropReason::kNone);
      full.length = n->pkt_len;
      expect_same(quick, full);
      if (to_turnpike(*m, quick.info, (*tables)->udp_port()) &&
          usual_turnpike(*m, quick.info, **tables)) {
        ++usual_data;
        EXPECT_EQ(parse_turnpike(*n, full.info, **tables), DropReason::kNone);
        expect_same(quick, full);
      }
    } else {
      ++others;
      EXPECT_EQ(testing::bytes_of(m), frame);
    }
    rte_pktmbuf_free(m);
    rte_pktmbuf_free(n);
  }
  EXPECT_GT(usual, 20'000U);
  EXPECT_GT(usual_data, 2'000U);
  EXPECT_GT(others, 20'000U);
}

TEST(ParseUsual, PassesWhatNearlyAllPacketsAre) {
  World keep_eal_up;
  const auto tables = Tables::build(topology(), 0, -1);
  ASSERT_TRUE(tables) << tables.error();
  for (const Frame& frame : {plain(100), plain(100, true), fcp({}), fcp({.v6 = true})}) {
    rte_mbuf* m = testing::make_mbuf(frame);
    PacketInfo p;
    EXPECT_TRUE(parse_fast(*m, p, mac_word(router_mac(kLeft)), **tables));
    rte_pktmbuf_free(m);
  }
}

}  // namespace
}  // namespace turnpike::router::test
