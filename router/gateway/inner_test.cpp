// SPDX-License-Identifier: BSD-3-Clause
// Datagrams that a tunnel carries: MSS, ECN, packing and release.
#include <array>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rte_mbuf.h>

#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"
#include "router/gateway/ecn.h"
#include "router/gateway/mss.h"
#include "router/gateway/release.h"
#include "router/gateway/tunnel.h"
#include "tests/support/eal.h"

namespace turnpike::gateway {
namespace {

/// The whole IPv4 datagram of a TCP SYN with these options, its checksum right.
std::vector<uint8_t> syn(const std::vector<uint8_t>& options, bool ipv6) {
  const size_t at = ipv6 ? wire::kIpv6Size : wire::kIpv4Size;
  const size_t padded = (options.size() + 3) / 4 * 4;
  std::vector<uint8_t> ip(at + 20 + padded);
  ip[0] = ipv6 ? 0x60 : 0x45;
  if (ipv6) {
    ip[wire::kIpv6NextHeaderAt] = 6;
    wire::store_be16(&ip[wire::kIpv6PayloadLengthAt], static_cast<uint16_t>(20 + padded));
  } else {
    ip[wire::kIpv4ProtocolAt] = 6;
    wire::store_be16(&ip[wire::kIpv4TotalLengthAt], static_cast<uint16_t>(ip.size()));
  }
  for (size_t i = 12; i < 20; ++i) ip[i + (ipv6 ? 8 : 0)] = static_cast<uint8_t>(i * 7);
  ip[at + 12] = static_cast<uint8_t>((20 + padded) / 4 << 4);
  ip[at + 13] = 0x02;
  std::copy(options.begin(), options.end(), ip.begin() + static_cast<ptrdiff_t>(at + 20));
  return ip;
}

uint16_t tcp_sum(const std::vector<uint8_t>& ip) {
  const bool ipv6 = ip[0] >> 4 == 6;
  const size_t at = ipv6 ? wire::kIpv6Size : wire::kIpv4Size;
  const auto length = static_cast<uint16_t>(ip.size() - at);
  uint64_t sum = wire::sum_words({ip.data() + at, length});
  sum +=
      ipv6 ? wire::pseudo_header_sum(&ip[8], &ip[24], 6, uint32_t{length})
           : wire::pseudo_header_sum(wire::load_be32(&ip[12]), wire::load_be32(&ip[16]), 6, length);
  return wire::fold(sum);
}

void complete(std::vector<uint8_t>& ip) {
  const size_t at = ip[0] >> 4 == 6 ? wire::kIpv6Size : wire::kIpv4Size;
  wire::store_be16(&ip[at + 16], 0);
  wire::store_be16(&ip[at + 16], wire::checksum_of(tcp_sum(ip)));
}

TEST(Mss, IsClampedAtAnyPlaceAmongTheOptions) {
  for (const bool ipv6 : {false, true})
    for (size_t before = 0; before < 9; ++before) {
      std::vector<uint8_t> options(before, 1);                  // no-operation
      options.insert(options.end(), {2, 4, 0x05, 0xb4, 4, 2});  // 1460, SACK permitted
      std::vector<uint8_t> ip = syn(options, ipv6);
      complete(ip);
      ASSERT_EQ(tcp_sum(ip), 0xffff);
      clamp_mss(ip.data(), static_cast<uint32_t>(ip.size()), 1400);
      const size_t at = (ipv6 ? wire::kIpv6Size : wire::kIpv4Size) + 20 + before + 2;
      EXPECT_EQ(wire::load_be16(&ip[at]), ipv6 ? 1340 : 1360);
      EXPECT_EQ(tcp_sum(ip), 0xffff) << before;
    }
}

TEST(Mss, ASmallOneStays) {
  std::vector<uint8_t> ip = syn({2, 4, 0x02, 0x00}, false);
  complete(ip);
  const auto before = ip;
  clamp_mss(ip.data(), static_cast<uint32_t>(ip.size()), 1400);
  EXPECT_EQ(ip, before);
}

/// Any bytes: it writes nowhere but to an MSS and the checksum, and reads nothing beyond.
RC_GTEST_PROP(Mss, SurvivesAnything, ()) {
  auto bytes = *rc::gen::container<std::vector<uint8_t>>(rc::gen::arbitrary<uint8_t>());
  if (bytes.empty()) return;
  bytes[0] = *rc::gen::elementOf(std::vector<uint8_t>{0x45, 0x46, 0x4f, 0x60});
  if (bytes.size() > 9) bytes[*rc::gen::elementOf(std::vector<size_t>{6, 9})] = 6;
  const auto before = bytes;
  clamp_mss(bytes.data(), static_cast<uint32_t>(bytes.size()), 1400);
  size_t changed = 0;
  for (size_t i = 0; i < bytes.size(); ++i) changed += bytes[i] != before[i] ? 1 : 0;
  RC_ASSERT(changed <= 4);
}

/// RFC 6040, figure 4, row by row.
TEST(Ecn, CombinesAsTheRfcSays) {
  constexpr int kDrop = -1;
  const std::array<std::array<int, 4>, 4> table{{
      //                 outer: Not-ECT  ECT(1)  ECT(0)  CE
      /* inner Not-ECT */ {wire::kNotEct, wire::kNotEct, wire::kNotEct, kDrop},
      /* inner ECT(1) */ {wire::kEct1, wire::kEct1, wire::kEct1, wire::kCe},
      /* inner ECT(0) */ {wire::kEct0, wire::kEct1, wire::kEct0, wire::kCe},
      /* inner CE */ {wire::kCe, wire::kCe, wire::kCe, wire::kCe},
  }};
  for (const uint8_t inner : {wire::kNotEct, wire::kEct1, wire::kEct0, wire::kCe})
    for (const uint8_t outer : {wire::kNotEct, wire::kEct1, wire::kEct0, wire::kCe})
      for (const bool ipv6 : {false, true}) {
        std::vector<uint8_t> ip(40);
        ip[0] = ipv6 ? 0x60 : 0x45;
        wire::set_ecn(ip.data(), inner);
        if (!ipv6) {
          wire::store_be16(&ip[10], 0);
          wire::store_be16(&ip[10], wire::checksum_of(wire::sum_words({ip.data(), 20})));
        }
        ASSERT_EQ(wire::ecn_of(ip.data()), inner);
        const int expected = table[inner][outer];
        ASSERT_EQ(combine_ecn(ip.data(), outer), expected != kDrop);
        if (expected == kDrop) continue;
        EXPECT_EQ(wire::ecn_of(ip.data()), expected);
        if (!ipv6) {
          EXPECT_EQ(wire::fold(wire::sum_words({ip.data(), 20})), 0xffff);
        }
      }
}

class CarryTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kHeaders = 80;
  static constexpr uint16_t kFront = kHeaders + wire::kEthernetSize;

  static std::vector<uint8_t> datagram(uint32_t size, uint8_t mark, uint8_t ecn = 0) {
    std::vector<uint8_t> ip(size, mark);
    ip[0] = 0x45;
    ip[1] = ecn;
    wire::store_be16(&ip[wire::kIpv4TotalLengthAt], static_cast<uint16_t>(size));
    wire::store_be16(&ip[10], 0);
    wire::store_be16(&ip[10], wire::checksum_of(wire::sum_words({ip.data(), 20})));
    return ip;
  }
  void put(Tunnel& tunnel, const std::vector<uint8_t>& bytes) {
    tunnel.put(testing::make_mbuf(bytes), 1, 1, Nanos(0));
  }
  QueuePool queues{1024};
  Peer far{.inner_mtu = 1400};
  metrics::SharedHistogram waits;
  GatewayTotals totals;
  TunnelParts parts{.queues = queues,
                    .waits = waits,
                    .pool = testing::test_pool().get(),
                    .codel = {},
                    .limit = 1'000'000,
                    .headers = kHeaders,
                    .totals = totals};
  CustomerTraffic traffic{1e-9};
};

/// Datagrams of many sizes go in, packets are made and taken apart, the same datagrams come out.
TEST_F(CarryTest, DatagramsComeOutAsTheyWentIn) {
  rc::check([&] {
    const auto sizes =
        *rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(28, 1400));
    Tunnel tunnel(parts, traffic, far, {});
    std::vector<std::vector<uint8_t>> in;
    for (const uint32_t size : sizes) {
      in.push_back(datagram(size, static_cast<uint8_t>(in.size())));
      put(tunnel, in.back());
    }
    PacketQueue out(4096);
    unsigned packets = 0;
    while (tunnel.waiting() > 0) {
      const auto taken = tunnel.take(1400, kFront, Nanos(0));
      RC_ASSERT(taken.buffer != nullptr);
      RC_ASSERT(taken.buffer->pkt_len <= 1400);
      ++packets;
      const uint32_t size = taken.buffer->pkt_len;
      RC_ASSERT(rte_pktmbuf_prepend(taken.buffer, kFront) != nullptr);
      const Released done =
          release(taken.buffer, kFront, size, 0, {}, testing::test_pool().get(), out);
      RC_ASSERT(!done.bad && done.no_buffer == 0);
    }
    RC_ASSERT(packets <= in.size());
    for (const auto& expected : in) {
      rte_mbuf* m = nullptr;
      RC_ASSERT(out.rx(Nanos(0), {&m, 1}) == 1);
      auto bytes = testing::bytes_of(m);
      bytes.erase(bytes.begin(), bytes.begin() + wire::kEthernetSize);
      RC_ASSERT(bytes == expected);
      rte_pktmbuf_free(m);
    }
    RC_ASSERT(out.waiting() == 0);
  });
}

TEST_F(CarryTest, SmallOnesThatWaitShareAPacket) {
  Tunnel tunnel(parts, traffic, far, {});
  for (unsigned n = 0; n < 10; ++n) put(tunnel, datagram(100, 1));
  const auto taken = tunnel.take(1400, kFront, Nanos(0));
  EXPECT_EQ(taken.buffer->pkt_len, 1000U);
  EXPECT_EQ(tunnel.waiting(), 0U);
  rte_pktmbuf_free(taken.buffer);
}

TEST_F(CarryTest, DatagramsOfOnePacketHaveOneEcnField) {
  Tunnel tunnel(parts, traffic, far, {});
  put(tunnel, datagram(100, 1, wire::kEct0));
  put(tunnel, datagram(100, 2, wire::kNotEct));
  auto taken = tunnel.take(1400, kFront, Nanos(0));
  EXPECT_EQ(taken.buffer->pkt_len, 100U);
  EXPECT_EQ(taken.ecn, wire::kEct0);
  rte_pktmbuf_free(taken.buffer);
  EXPECT_EQ(tunnel.waiting(), 100U + kHeaders);
  taken = tunnel.take(1400, kFront, Nanos(0));
  EXPECT_EQ(taken.ecn, wire::kNotEct);
  rte_pktmbuf_free(taken.buffer);
}

TEST_F(CarryTest, CountsWhatCameAndWhatLeft) {
  Tunnel tunnel(parts, traffic, far, {});
  for (const uint32_t size : {100, 200, 1300, 1000}) put(tunnel, datagram(size, 1));
  EXPECT_EQ(traffic.offered_bytes.read(), 2600U);
  auto taken = tunnel.take(1400, kFront, 5_ms);
  EXPECT_EQ(taken.buffer->pkt_len, 300U);
  rte_pktmbuf_free(taken.buffer);
  EXPECT_EQ(tunnel.carried(), 300U);
  EXPECT_EQ(traffic.waits.read().total(), 2U) << "both datagrams of the packet";
  EXPECT_DOUBLE_EQ(traffic.waits.read().quantile(0.99), 5e6);
  EXPECT_EQ(tunnel.clear(), 2U);
  EXPECT_EQ(tunnel.waiting(), 0U);
  EXPECT_EQ(tunnel.queue().dropped(), 2U);
  EXPECT_EQ(tunnel.carried(), 300U);
}

TEST_F(CarryTest, SaysThatItsBoundHoldsItBack) {
  Tunnel tunnel(parts, traffic, far, {});
  EXPECT_FALSE(tunnel.at_most());
  put(tunnel, datagram(1000, 1));
  EXPECT_FALSE(tunnel.at_most()) << "without a bound";
  tunnel.set_most(1000);
  put(tunnel, datagram(1000, 1));
  EXPECT_TRUE(tunnel.at_most());
  tunnel.clear();
  EXPECT_FALSE(tunnel.at_most()) << "nothing waits";
}

TEST_F(CarryTest, IsNotHeldBackBelowItsBound) {
  Tunnel tunnel(parts, traffic, far, {});
  tunnel.set_most(1e6);  // B/s; 780 kB/s arrive
  for (int ms = 1; ms <= 200; ++ms) {
    tunnel.put(testing::make_mbuf(datagram(700, 1)), 1, 1, 1_ms * ms);
    EXPECT_FALSE(tunnel.at_most());
    rte_pktmbuf_free(tunnel.take(1400, kFront, 1_ms * ms).buffer);
  }
}

TEST_F(CarryTest, ASharedBufferGetsItsHeadersInAnother) {
  Tunnel tunnel(parts, traffic, far, {});
  rte_mbuf* m = testing::make_mbuf(datagram(500, 1));
  rte_mbuf_refcnt_update(m, 1);
  tunnel.put(m, 1, 1, Nanos(0));
  const auto taken = tunnel.take(1400, kFront, Nanos(0));
  ASSERT_NE(taken.buffer, m);
  EXPECT_EQ(taken.buffer->pkt_len, 500U);
  EXPECT_NE(rte_pktmbuf_prepend(taken.buffer, kFront), nullptr);
  rte_pktmbuf_free(taken.buffer);
  rte_pktmbuf_free(m);
}

TEST_F(CarryTest, PayloadThatIsNoDatagramIsReported) {
  PacketQueue out(16);
  for (const std::vector<uint8_t>& bytes :
       {std::vector<uint8_t>(100, 0), std::vector<uint8_t>(10, 0x45), datagram(100, 1)}) {
    std::vector<uint8_t> cut(bytes.begin(), bytes.end() - (bytes.size() == 100 ? 1 : 0));
    const auto size = static_cast<uint32_t>(cut.size());
    cut.insert(cut.begin(), kFront, 0);
    const Released done =
        release(testing::make_mbuf(cut), kFront, size, 0, {}, testing::test_pool().get(), out);
    EXPECT_TRUE(done.bad);
    EXPECT_EQ(done.packets, 0U);
  }
}

// --- sealed ------------------------------------------------------------------------------------

class SealedCarryTest : public CarryTest {
 protected:
  SealedCarryTest() {
    config::Gateway g;
    g.security = config::GatewaySecurity{.key_file = "none"};
    g.peers.push_back({.name = "peer", .address = config::Ipv4{1}, .keys = {SecretBytes(key_)}});
    wire::FrameSpec frame;
    frame.addresses = wire::Ipv4Pair{1, 1};  // this end is both ends
    auto ring = KeyRing::make(g, g);
    EXPECT_TRUE(ring.has_value()) << ring.error();
    seal_.emplace(std::move(*ring), std::span(&frame, 1), 1);
    parts.seal = &*seal_;
  }
  /// Takes a packet, seals and opens it, and returns the datagrams' bytes; frees the packet.
  std::vector<uint8_t> carry(Tunnel& tunnel, uint32_t room) {
    const auto taken = tunnel.take(room, kFront, Nanos(0));
    rte_mbuf* const m = taken.buffer;
    EXPECT_NE(m, nullptr);
    if (m == nullptr) return {};
    EXPECT_EQ(m->nb_segs, 1);
    EXPECT_LE(m->pkt_len, room);
    const uint32_t size = m->pkt_len;
    EXPECT_NE(rte_pktmbuf_prepend(m, kFront), nullptr);
    const std::array<uint8_t, wire::kHeaderSize> common{};
    const std::span<uint8_t> payload(rte_pktmbuf_mtod_offset(m, uint8_t*, kFront), size);
    const sender::DatagramSource::Headers headers{.common = common.data(), .sequence = 1};
    EXPECT_TRUE(tunnel.seal(payload, headers));
    EXPECT_EQ(seal_->open(0, payload, headers), Seal::Opened::kAuthentic);
    const auto text = payload.subspan(Seal::kFront, size - Seal::kOverhead);
    std::vector<uint8_t> bytes(text.begin(), text.end());
    rte_pktmbuf_free(m);
    return bytes;
  }

 private:
  std::vector<uint8_t> key_ = std::vector<uint8_t>(16, 3);
  std::optional<Seal> seal_;
};

TEST_F(SealedCarryTest, PacketsHaveRoomForTheSeal) {
  Tunnel tunnel(parts, traffic, far, {});
  ASSERT_TRUE(tunnel.sealed());
  for (unsigned n = 0; n < 20; ++n) put(tunnel, datagram(100, static_cast<uint8_t>(n)));
  const uint32_t room = 10 * 100 + Seal::kOverhead + 99;
  for (unsigned packet = 0; packet < 2; ++packet) {
    const std::vector<uint8_t> bytes = carry(tunnel, room);
    ASSERT_EQ(bytes.size(), 1000U) << "ten datagrams share the packet";
    for (unsigned n = 0; n < 10; ++n) EXPECT_EQ(bytes[100 * n + 99], 10 * packet + n);
  }
  EXPECT_EQ(tunnel.waiting(), 0U);
}

/// Others still read the bytes of a shared buffer.
TEST_F(SealedCarryTest, ASharedBufferIsCopiedBeforeItIsEncrypted) {
  Tunnel tunnel(parts, traffic, far, {});
  const std::vector<uint8_t> in = datagram(500, 1);
  rte_mbuf* const m = testing::make_mbuf(in);
  rte_mbuf_refcnt_update(m, 1);
  tunnel.put(m, 1, 1, Nanos(0));
  EXPECT_EQ(carry(tunnel, 1400), in);
  EXPECT_EQ(testing::bytes_of(m), in);
  rte_pktmbuf_free(m);
}

TEST_F(SealedCarryTest, SegmentsAreJoined) {
  Tunnel tunnel(parts, traffic, far, {});
  const std::vector<uint8_t> in = datagram(500, 1);
  rte_mbuf* const head = testing::make_mbuf(in, 100);
  ASSERT_GT(head->nb_segs, 1);
  tunnel.put(head, 1, 1, Nanos(0));
  EXPECT_EQ(carry(tunnel, 1400), in);
}

}  // namespace
}  // namespace turnpike::gateway
