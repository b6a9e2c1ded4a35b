// SPDX-License-Identifier: BSD-3-Clause
// The fast paths give each packet the result of the full checks.
#include "router/datapath/ingress/parse_fast.h"

#include <bit>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "router/datapath/ingress/parse.h"
#include "router/datapath/ingress/parse_eight.h"
#include "tests/support/eal.h"
#include "tests/support/parse_oracle.h"
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
                            fcp({.datagram = 200}),
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
  if (random() % 8 == 0 && f.size() >= 42) {  // values that are rare otherwise
    const uint8_t addresses[][4] = {{10, 0, 1, 1},       {10, 0, 3, 1},    {127, 0, 0, 1},
                                    {0, 1, 2, 3},        {169, 254, 1, 1}, {224, 0, 0, 5},
                                    {255, 255, 255, 255}};
    f[22] = static_cast<uint8_t>(random() % 3);  // TTL
    std::ranges::copy(addresses[random() % std::size(addresses)], &f[random() % 2 == 0 ? 26 : 30]);
  }
  if (random() % 16 == 0 && f.size() >= 42) {  // about the shortest datagram
    f[16] = 0;
    f[17] = static_cast<uint8_t>(20 + random() % 12);
  }
  if (random() % 16 == 0 && f.size() >= 46) {  // about the most ranges, and headers that hold them
    f[44] = static_cast<uint8_t>(7 + random() % 4);
    f[45] = static_cast<uint8_t>(24 + random() % 16);
  }
  if (random() % 8 == 0) f.resize(14 + random() % 90);
  if (random() % 2 == 0 && f.size() >= 34) {
    f[24] = f[25] = 0;
    wire::store_be16(f.data() + 24, wire::checksum_of(wire::sum_words({f.data() + 14, 20})));
  }
  return f;
}

// A burst of frames that arrived by kLeft, and as many equal packets beside it.
struct Twins {
  Burst burst;
  std::vector<rte_mbuf*> others;

  // `segment`: B of a buffer. `checked`: the NIC says that IPv4's checksum is right.
  void add(const Frame& frame, size_t segment = SIZE_MAX, bool checked = false) {
    rte_mbuf* const pair[] = {testing::make_mbuf(frame, segment),
                              testing::make_mbuf(frame, segment)};
    for (rte_mbuf* m : pair)
      if (checked) m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD;
    burst.mbufs[others.size()] = pair[0];
    others.push_back(pair[1]);
  }
  void parse(const Tables& tables) {
    burst.begin(static_cast<unsigned>(others.size()), kLeft, Nanos(0));
    WorkerContext context;
    context.tables = &tables;
    router::parse(burst, context);
  }
  void expect_same(const Tables& tables) {
    for (unsigned i = 0; i < others.size(); ++i)
      EXPECT_EQ(parse_difference(burst, i, *others[i], tables), "") << "packet " << i;
  }
  void free() {
    rte_pktmbuf_free_bulk(burst.mbufs.data(), static_cast<unsigned>(others.size()));
    rte_pktmbuf_free_bulk(others.data(), static_cast<unsigned>(others.size()));
    others.clear();
  }
};

TEST(ParseFast, EqualsTheChecksOfSinglePackets) {
  World keep_eal_up;
  const auto tables = Tables::build(topology(), 0, -1);
  ASSERT_TRUE(tables) << tables.error();
  const std::vector<Frame> sound = sound_frames();
  std::mt19937 random(3);
  size_t fast = 0, data = 0, dropped = 0, packets = 0;
  for (int round = 0; round < 20'000 && !HasFailure(); ++round) {
    Twins twins;
    const bool odd = random() % 2 == 0;  // a burst with packets of every kind, or of one kind
    const Frame& kind = sound[random() % sound.size()];
    for (auto n = 1 + random() % kBurst; n > 0; --n)
      twins.add(mutated(odd ? sound[random() % sound.size()] : kind, random),
                random() % 16 == 0 ? 40 : SIZE_MAX, random() % 16 == 0);
    twins.parse(**tables);
    twins.expect_same(**tables);
    packets += twins.others.size();
    fast += static_cast<size_t>(std::popcount(twins.burst.with_ipv4 | twins.burst.with_ipv6));
    dropped += static_cast<size_t>(std::popcount(twins.burst.dropped));
    for (unsigned i = 0; i < twins.others.size(); ++i)
      data += static_cast<size_t>(twins.burst.info[i].congestion != 0);
    twins.free();
  }
  EXPECT_GT(fast, packets / 10);
  EXPECT_GT(data, packets / 100);
  EXPECT_GT(dropped, packets / 10);
}

TEST(ParseFast, TakesWhatNearlyAllPacketsAre) {
  World keep_eal_up;
  const auto tables = Tables::build(topology(), 0, -1);
  ASSERT_TRUE(tables) << tables.error();
  Twins twins;
  for (const Frame& frame : {plain(100), plain(100, true), fcp({}), fcp({.v6 = true}), plain(28)})
    twins.add(frame);
  twins.parse(**tables);
  EXPECT_EQ(twins.burst.with_ipv4, 0b10101U);
  EXPECT_EQ(twins.burst.with_ipv6, 0b01010U);
  twins.free();
}

/// Gives parse_eight() a burst of frames, repeated to fill it.
class ParseEightTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (parse_eight() == nullptr) GTEST_SKIP() << "this CPU has no AVX-512";
    auto built = Tables::build(topology(), 0, -1);
    ASSERT_TRUE(built) << built.error();
    tables = std::move(*built);
  }
  ParsedEight parse(const std::vector<Frame>& frames) {
    twins.free();
    for (unsigned i = 0; i < kBurst; ++i) twins.add(frames[i % frames.size()]);
    twins.burst.begin(kBurst, kLeft, Nanos(0));
    return parse_eight()(twins.burst, FastStation(*tables, kLeft), *tables);
  }
  void TearDown() override { twins.free(); }

  World keep_eal_up;
  std::unique_ptr<const Tables> tables;
  Twins twins;
};

TEST_F(ParseEightTest, TakesWhatNearlyAllPacketsAre) {
  Frame padded = plain(40);
  padded.resize(80);
  const ParsedEight parsed = parse({plain(100), plain(60, true), fcp({}), fcp({.v6 = true}),
                                    fcp({.kind = wire::Kind::kAck}), padded, plain(70, true),
                                    fcp({.kind = wire::Kind::kSyn})});
  EXPECT_EQ(parsed.ipv4, 0xb5b5b5b5);
  EXPECT_EQ(parsed.ipv6, 0x4a4a4a4a);
  EXPECT_EQ(parsed.to_turnpike, 0x80808080) << "but for SYNs, headers have been checked";
  uint64_t bytes = 0;
  uint32_t turnpike = 0, data = 0;
  for (unsigned i = 0; i < kBurst; ++i) {
    const PacketInfo& p = twins.burst.info[i];
    bytes += p.datagram;
    turnpike |= uint32_t{p.has(kTurnpike)} << i;
    data |= uint32_t{p.congestion != 0} << i;
  }
  EXPECT_EQ(parsed.bytes, bytes);
  EXPECT_EQ(turnpike, 0x1c1c1c1c);
  EXPECT_EQ(data, 0x0c0c0c0c);
}

TEST_F(ParseEightTest, LeavesShortFramesToTheOtherChecks) {
  std::vector<Frame> frames(kBurst, plain(100));
  frames[9] = Frame(frames[9].begin(), frames[9].begin() + 41);
  EXPECT_EQ(parse(frames).ipv4, 0xffff00ff);
  std::ranges::fill(frames, plain(100, true));
  frames[9] = Frame(frames[9].begin(), frames[9].begin() + 61);
  EXPECT_EQ(parse(frames).ipv6, 0xffff00ff);
}

TEST_F(ParseEightTest, StopsWhereItAcceptsNone) {
  std::vector<Frame> frames(kBurst, plain(100));
  for (unsigned i = 8; i < 16; ++i) frames[i][0] = 0xff;
  EXPECT_EQ(parse(frames).ipv4, 0xffU);
}

}  // namespace
}  // namespace turnpike::router::test
