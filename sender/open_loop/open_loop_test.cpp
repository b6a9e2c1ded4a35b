// SPDX-License-Identifier: BSD-3-Clause
// Tests exact packet counts of streams on a link that delays, drops, reorders and duplicates.
#include <algorithm>
#include <array>
#include <set>

#include "common/wire/checksum.h"
#include "tests/support/sender_world.h"

namespace turnpike::sender::testing {
namespace {

config::Topology streaming(config::StreamRate rate, Nanos duration = 1_s) {
  config::Topology t = two_hosts();
  t.run.duration = duration;
  config::Stream s;
  s.name = "load";
  s.to = 1;
  s.rate = rate;
  s.frames = {Bytes(64)};
  t.streams.push_back(s);
  return t;
}

const Departures& sent(World& w) {
  return w.sender(0).hosts()[0]->open_loop().emitters()[0]->departures();
}
const Counted& counted(World& w) { return *w.sender(1).hosts()[0]->open_loop().meter().stream(0); }
const Arrivals& arrived(World& w) { return counted(w).arrivals(); }

TEST(OpenLoop, EveryPacketIsSentWhenDueAndTimed) {
  World w(streaming(config::PacketRate{10'000}), {.delay = 3_ms});
  w.run(2_s);
  EXPECT_EQ(sent(w).packets.read(), 10'000U);
  EXPECT_EQ(sent(w).bytes.read(), 640'000U);
  EXPECT_EQ(sent(w).skipped.read(), 0U);
  EXPECT_EQ(sent(w).lag.max(), 0U);
  EXPECT_EQ(arrived(w).packets.read(), 10'000U);
  EXPECT_EQ(arrived(w).latency.min(), 3'000'000U);
  EXPECT_EQ(arrived(w).latency.max(), 3'000'000U);
  EXPECT_EQ(arrived(w).reordered.read() + arrived(w).duplicates.read(), 0U);
}

TEST(OpenLoop, FramesAreWhatTheyShouldBe) {
  for (const unsigned version : {4U, 6U}) {
    config::Topology t = streaming(config::PacketRate{1000}, 120_ms);
    t.streams[0].ip_version = version;
    t.streams[0].frames = {Bytes(84), Bytes(1518)};
    t.streams[0].flows = 7;
    std::set<uint16_t> ports;
    std::vector<size_t> sizes;
    World w(t, {.tap = [&](size_t, std::vector<uint8_t>& frame, Nanos) {
              wire::UdpFrame at;
              EXPECT_EQ(wire::locate_udp(frame, at), wire::FrameError::kNone);
              EXPECT_EQ(wire::verify_checksums(frame, at), wire::FrameError::kNone);
              EXPECT_EQ(at.ipv6, version == 6);
              ports.insert(wire::load_be16(frame.data() + at.udp + wire::kUdpSourceAt));
              EXPECT_TRUE(std::all_of(frame.begin() + at.payload + Probe::kSize, frame.end(),
                                      [](uint8_t b) { return b == 0; }));
              sizes.push_back(frame.size() + 4);
              return true;
            }});
    w.run(1_s);
    ASSERT_EQ(sizes.size(), 120U);
    EXPECT_EQ(sizes[0], 84U);
    EXPECT_EQ(sizes[1], 1518U);
    EXPECT_EQ(ports.size(), 7U);
    EXPECT_EQ(arrived(w).packets.read(), 120U);
    EXPECT_EQ(arrived(w).bytes.read(), 60U * (84 + 1518));
  }
}

// Streams with headers of different lengths share buffers, which are not cleared as a whole.
TEST(OpenLoop, FramesFromItsOwnPoolAreZerosBehindTheProbe) {
  auto pool = Pool::create("own", {.mbufs = 63, .cache = 0, .zeroed = true});
  ASSERT_TRUE(pool) << pool.error();
  config::Topology t = streaming(config::PacketRate{1000}, 200_ms);
  t.streams[0].frames = {Bytes(84), Bytes(1518)};
  t.streams.push_back(t.streams[0]);
  t.streams[1].name = "six";
  t.streams[1].ip_version = 6;
  t.streams[1].rate = config::PacketRate{700};
  std::array<size_t, 2> frames{};
  {
    World w(t, {.tap = [&](size_t, std::vector<uint8_t>& frame, Nanos) {
              wire::UdpFrame at;
              EXPECT_EQ(wire::locate_udp(frame, at), wire::FrameError::kNone);
              EXPECT_EQ(wire::verify_checksums(frame, at), wire::FrameError::kNone);
              EXPECT_TRUE(std::all_of(frame.begin() + at.payload + Probe::kSize, frame.end(),
                                      [](uint8_t b) { return b == 0; }));
              EXPECT_LE(at.payload + Probe::kSize, FrameGenerator::kMaxWritten);
              ++frames[at.ipv6 ? 1 : 0];
              return true;
            }});
    w.sender(0).hosts()[0]->open_loop().send_from(pool->get());
    w.run(1_s);
    EXPECT_EQ(w.sender(0).hosts()[0]->open_loop().emitters()[0]->departures().no_buffer.read(), 0U);
  }
  EXPECT_EQ(frames[0], 200U);
  EXPECT_EQ(frames[1], 140U);
  EXPECT_EQ(pool->in_use(), 0U);
}

TEST(OpenLoop, ManyFlowsHaveSeveralAddresses) {
  config::Topology t = streaming(config::PacketRate{200'000}, 100_ms);
  t.streams[0].flows = 20'000;
  std::set<std::pair<uint32_t, uint16_t>> flows;
  World w(t, {.tap = [&](size_t, std::vector<uint8_t>& frame, Nanos) {
            flows.emplace(wire::load_be32(frame.data() + 26), wire::load_be16(frame.data() + 34));
            return true;
          }});
  w.run(1_s);
  EXPECT_EQ(flows.size(), 20'000U);
  EXPECT_EQ(flows.begin()->first, 0x0a000001U) << "the host's own address first";
  EXPECT_EQ(flows.rbegin()->first, 0xc6120001U);
  EXPECT_EQ(arrived(w).packets.read(), 20'000U);
}

TEST(OpenLoop, LossesSwapsAndCopiesAreCounted) {
  // The tap counts what it does to packets; the receiver must count the same.
  uint64_t lost = 0, swapped = 0, copied = 0;
  std::vector<uint8_t> kept;
  World* world = nullptr;
  World w(streaming(config::PacketRate{10'000}),
          {.delay = 1_ms, .tap = [&](size_t, std::vector<uint8_t>& frame, Nanos now) {
             const uint32_t n = wire::load_be32(frame.data() + 42 + 6);
             if (n % 10 == 3) {
               ++lost;
               return false;
             }
             if (n % 100 == 50) {
               ++swapped;  // 250 us late: after two later packets
               world->channel().inject(1, frame, now + 1250_us);
               return false;
             }
             if (n % 50 == 9) {
               ++copied;
               world->channel().inject(1, frame, now + 2_ms);
             }
             return true;
           }});
  world = &w;
  w.run(2_s);
  EXPECT_EQ(sent(w).packets.read() - arrived(w).packets.read(), lost);
  EXPECT_EQ(lost, 1000U);
  EXPECT_EQ(arrived(w).reordered.read(), swapped);
  EXPECT_EQ(arrived(w).duplicates.read(), copied);
  EXPECT_EQ(arrived(w).latency.max(), 1'250'000U);
}

TEST(OpenLoop, SlackMakesBursts) {
  config::Topology t = streaming(config::PacketRate{100'000}, 100_ms);
  t.streams[0].slack = 155_us;
  std::set<Nanos> moments;
  World w(t, {.tap = [&](size_t, std::vector<uint8_t>&, Nanos now) {
            moments.insert(now);
            return true;
          }});
  w.run(1_s);
  EXPECT_EQ(sent(w).packets.read(), 10'000U);
  EXPECT_EQ(moments.size(), 625U) << "16 at a time: those due within 155 us of the first";
  EXPECT_EQ(sent(w).lag.max(), 155'000U);
}

TEST(OpenLoop, WhatIsDueTooLongAgoIsLeftOut) {
  const config::Topology t = streaming(config::PacketRate{10'000});
  Channel channel({});
  TxBuffer tx(channel.end(0));
  Emitter e(t, 0, turnpike::testing::test_pool().get(), false);
  EXPECT_EQ(e.emit(tx, Nanos(0)), 1U);
  // No poll for 50 ms: emit() skips all packets except those of the last millisecond.
  EXPECT_EQ(e.emit(tx, 50_ms), 11U);
  EXPECT_EQ(e.departures().skipped.read(), 489U);
  EXPECT_EQ(e.departures().lag.max(), 1'000'000U);
  EXPECT_EQ(e.offered(50_ms + 1_ns), 501U) << "what was asked for stays what was asked for";
  EXPECT_EQ(e.next_deadline(), 50'100_us);
}

TEST(OpenLoop, AFullPortHoldsUp) {
  const config::Topology t = streaming(config::PacketRate{1e6});
  class Refuses final : public QueuePair {
    uint16_t rx(Nanos, std::span<rte_mbuf*>) override { return 0; }
    uint16_t tx(Nanos, std::span<rte_mbuf*>) override { return 0; }
  } port;
  TxBuffer tx(port);
  Emitter e(t, 0, turnpike::testing::test_pool().get(), false);
  for (Nanos now = 0_ns; now < 10_ms; now += 10_us) {
    e.emit(tx, now);
    tx.flush(now);
  }
  EXPECT_EQ(e.departures().packets.read(), TxBuffer::kRoom);
  EXPECT_GT(e.departures().no_room.read(), 900U);
  EXPECT_NEAR(static_cast<double>(e.departures().skipped.read()), 8990 - TxBuffer::kRoom, 10);
}

TEST(OpenLoop, StopsAndSettles) {
  World w(streaming(config::PacketRate{1000}, 10_s), {.delay = 5_ms});
  w.run(99_ms);
  for (size_t i = 0; i < 2; ++i) w.sender(i).stop(w.now());
  EXPECT_FALSE(w.sender(1).idle(w.now()));
  w.run(1_s);
  EXPECT_EQ(sent(w).packets.read(), 100U);
  EXPECT_EQ(arrived(w).packets.read(), 100U);
  EXPECT_TRUE(w.sender(1).idle(1_s));
}

TEST(OpenLoop, PacketsOfNoStreamAreForeign) {
  World w(streaming(config::PacketRate{1000}, 10_ms),
          {.tap = [&](size_t, std::vector<uint8_t>& frame, Nanos) {
            // The index of another stream, and no UDP checksum.
            wire::store_be16(frame.data() + 42 + 2, 7);
            wire::store_be16(frame.data() + 40, 0);
            return true;
          }});
  w.run(1_s);
  EXPECT_EQ(arrived(w).packets.read(), 0U);
  EXPECT_EQ(w.totals(1).foreign_packets.read(), 10U);
}

}  // namespace
}  // namespace turnpike::sender::testing
