// SPDX-License-Identifier: BSD-3-Clause
// Sealed payloads between two gateways: damage, forgery, and keys that change while packets are on
// their way.
#include "router/gateway/seal.h"

#include <set>
#include <vector>

#include "common/wire/turnpike_header.h"
#include "tests/support/eal.h"

namespace turnpike::gateway {
namespace {

using Headers = sender::DatagramSource::Headers;
using Opened = Seal::Opened;

SecretBytes key(uint8_t number, size_t size = 32) {
  return SecretBytes(std::vector<uint8_t>(size, number));
}

constexpr uint32_t kWest = 0x0a140001, kEast = 0x0a140002, kNorth = 0x0a140003;

/// One gateway with its peers, each by address and keys.
struct End {
  struct Peer {
    uint32_t address = 0;
    std::vector<SecretBytes> keys;
  };
  config::Gateway gateway;
  std::vector<wire::FrameSpec> frames;
  std::optional<Seal> seal;

  End(uint32_t own, const std::vector<Peer>& peers, uint64_t start) {
    gateway = with(peers);
    for (const Peer& p : peers) {
      wire::FrameSpec& frame = frames.emplace_back();
      frame.addresses = wire::Ipv4Pair{own, p.address};
      frame.destination_port = 4747;
    }
    seal.emplace(ring(gateway), frames, start);
  }
  static config::Gateway with(const std::vector<Peer>& peers) {
    config::Gateway g;
    g.security = config::GatewaySecurity{.key_file = "keys"};
    for (const Peer& p : peers)
      g.peers.push_back({.name = std::to_string(p.address), .address = p.address, .keys = p.keys});
    return g;
  }
  [[nodiscard]] std::unique_ptr<KeyRing> ring(const config::Gateway& wanted) const {
    auto made = KeyRing::make(gateway, wanted);
    if (!made) throw std::runtime_error(made.error());
    return std::move(*made);
  }
  /// Its first peer has these keys from now on.
  void take(const std::vector<SecretBytes>& keys) {
    config::Gateway wanted = gateway;
    wanted.peers[0].keys = keys;
    auto next = ring(wanted);
    seal->exchange(next);
  }
};

/// A packet on its way: its headers and its payload.
struct Packet {
  std::array<uint8_t, wire::kHeaderSize> common{};
  uint64_t sequence = 0;
  uint16_t source_port = 50'000;
  std::vector<uint8_t> payload;

  [[nodiscard]] Headers headers() const {
    return {.common = common.data(), .sequence = sequence, .source_port = source_port};
  }
};

Packet sealed(End& from, uint64_t sequence, size_t size = 100) {
  Packet p;
  wire::encode({.kind = wire::Kind::kData,
                .protocol = 1,
                .length = 56,
                .flow = 7,
                .sequence = static_cast<uint32_t>(sequence),
                .acknowledgement = 3,
                .timestamp = 4,
                .token = 5},
               p.common.data());
  p.sequence = sequence;
  p.payload.assign(size + Seal::kOverhead, 0x45);
  EXPECT_TRUE(from.seal->seal(0, p.payload, p.headers()));
  return p;
}

Opened open(End& at, Packet p) { return at.seal->open(0, p.payload, p.headers()); }

struct Pair {
  End west{kWest, {{kEast, {key(1)}}}, 100}, east{kEast, {{kWest, {key(1)}}}, 200};
};

TEST(Seal, OpensAtThePeerInPlace) {
  Pair pair;
  Packet p = sealed(pair.west, 1);
  const std::vector<uint8_t> datagrams(100, 0x45);
  EXPECT_NE(p.payload[0] & Seal::kMark, 0);
  EXPECT_FALSE(std::equal(datagrams.begin(), datagrams.end(), &p.payload[Seal::kFront]));
  ASSERT_EQ(pair.east.seal->open(0, p.payload, p.headers()), Opened::kAuthentic);
  EXPECT_TRUE(std::equal(datagrams.begin(), datagrams.end(), &p.payload[Seal::kFront]));
}

TEST(Seal, TakesKeysOfBothSizesAndIpv6) {
  for (const size_t size : {16U, 32U}) {
    End west(kWest, {{kEast, {key(1, size)}}}, 1), east(kEast, {{kWest, {key(1, size)}}}, 2);
    const wire::Ipv6Address one{0xfd, 1}, two{0xfd, 2};
    west.frames[0].addresses = wire::Ipv6Pair{one, two};
    east.frames[0].addresses = wire::Ipv6Pair{two, one};
    west.seal.emplace(west.ring(west.gateway), west.frames, 1);
    east.seal.emplace(east.ring(east.gateway), east.frames, 2);
    EXPECT_EQ(open(east, sealed(west, 1)), Opened::kAuthentic);
  }
}

TEST(Seal, CoversEveryByteThatNoRouterRewrites) {
  Pair pair;
  const Packet right = sealed(pair.west, uint64_t{1} << 40, 40);
  EXPECT_EQ(open(pair.east, right), Opened::kAuthentic);
  for (size_t at = 0; at < right.common.size(); ++at) {
    Packet p = right;
    p.common[at] ^= 0x10;
    EXPECT_EQ(open(pair.east, p), Opened::kForged) << "byte " << at << " of the common header";
  }
  for (size_t at = Seal::kKeyIdSize; at < right.payload.size(); ++at) {
    Packet p = right;
    p.payload[at] ^= 1;
    EXPECT_EQ(open(pair.east, p), Opened::kForged) << "byte " << at << " of the payload";
  }
  Packet p = right;
  p.source_port ^= 1;
  EXPECT_EQ(open(pair.east, p), Opened::kForged);
  p = right;
  p.sequence += uint64_t{1} << 32;
  EXPECT_EQ(open(pair.east, p), Opened::kForged) << "the upper half of the sequence number";
  p = right;
  p.payload.pop_back();
  EXPECT_EQ(open(pair.east, p), Opened::kForged);
}

/// An ACK of the flow of port 50,000, from east.
struct AckPacket {
  std::vector<uint8_t> headers = std::vector<uint8_t>(wire::header_length(32, 1), 0x2a), payload;
  uint16_t port = 50'000;

  explicit AckPacket(End& from, size_t ranges = 1) {
    headers.resize(wire::header_length(32, ranges), 0x2b);
    wire::encode({.kind = wire::Kind::kAck,
                  .protocol = 1,
                  .ranges = static_cast<uint8_t>(ranges),
                  .length = static_cast<uint16_t>(headers.size()),
                  .flow = 7,
                  .sequence = 8,
                  .acknowledgement = 3,
                  .echo = 4,
                  .token = 5},
                 headers.data());
    payload.resize(Seal::kOverhead);
    EXPECT_TRUE(from.seal->seal(0, payload, Seal::Answer{headers, port}));
  }
  [[nodiscard]] Opened open(End& at) {
    return at.seal->open(0, payload, Seal::Answer{headers, port});
  }
};

TEST(Seal, CoversEveryByteOfAnAnswer) {
  Pair pair;
  for (const size_t ranges : {size_t{0}, size_t{1}, wire::kMaxRanges})
    EXPECT_EQ(AckPacket(pair.east, ranges).open(pair.west), Opened::kAuthentic) << ranges;
  const AckPacket right(pair.east);
  for (size_t at = 0; at < right.headers.size(); ++at) {
    AckPacket p = right;
    p.headers[at] ^= 1;
    EXPECT_EQ(p.open(pair.west), Opened::kForged) << "byte " << at << " of the headers";
  }
  for (size_t at = Seal::kKeyIdSize; at < right.payload.size(); ++at) {
    AckPacket p = right;
    p.payload[at] ^= 1;
    EXPECT_EQ(p.open(pair.west), Opened::kForged) << "byte " << at << " of the payload";
  }
  AckPacket p = right;
  p.port ^= 1;
  EXPECT_EQ(p.open(pair.west), Opened::kForged) << "another flow's port";
  p = right;
  EXPECT_EQ(p.open(pair.east), Opened::kForged) << "it came back";
  p.payload[1] ^= 1;
  EXPECT_EQ(p.open(pair.west), Opened::kUnknownKey);
  p.payload.clear();
  EXPECT_EQ(p.open(pair.west), Opened::kUnsealed);
}

TEST(Seal, PacketsAndAnswersAreNotMistakenForEachOther) {
  Pair pair;
  const AckPacket ack(pair.east);
  Packet p;
  std::copy_n(ack.headers.begin(), p.common.size(), p.common.begin());
  p.payload = ack.payload;
  p.payload.push_back(0);
  EXPECT_EQ(open(pair.west, p), Opened::kForged);
  AckPacket q(pair.east);
  q.payload = sealed(pair.east, 1, 1).payload;
  EXPECT_EQ(q.open(pair.west), Opened::kUnsealed) << "it has a datagram";
}

TEST(Seal, CoversTheAddresses) {
  Pair pair;
  End north(kNorth, {{kWest, {key(1)}}}, 3);
  EXPECT_EQ(open(north, sealed(pair.west, 1)), Opened::kForged) << "it was for east";
  End other(kEast, {{kNorth, {key(1)}}}, 4);
  EXPECT_EQ(open(other, sealed(pair.west, 1)), Opened::kForged) << "it was from west";
  EXPECT_EQ(open(pair.west, sealed(pair.west, 1)), Opened::kForged) << "it came back";
}

TEST(Seal, KnowsKeysByTheirPeer) {
  End west(kWest, {{kEast, {key(1)}}, {kNorth, {key(2)}}}, 1), east(kEast, {{kWest, {key(1)}}}, 2),
      north(kNorth, {{kWest, {key(2)}}}, 3);
  Packet p = sealed(north, 1);
  EXPECT_EQ(west.seal->open(1, p.payload, p.headers()), Opened::kAuthentic);
  p = sealed(north, 2);
  EXPECT_EQ(west.seal->open(0, p.payload, p.headers()), Opened::kUnknownKey);
  EXPECT_EQ(open(east, sealed(north, 3)), Opened::kUnknownKey);
}

TEST(Seal, RefusesPayloadInTheClear) {
  Pair pair;
  for (const size_t size : {size_t{0}, size_t{1}, Seal::kOverhead, size_t{100}})
    for (const uint8_t first : {0x45, 0x60}) {
      Packet p = sealed(pair.west, 1);
      p.payload.assign(size, first);
      EXPECT_EQ(open(pair.east, p), Opened::kUnsealed) << size;
    }
  Packet p = sealed(pair.west, 1);
  p.payload.resize(Seal::kOverhead);
  EXPECT_EQ(open(pair.east, p), Opened::kUnsealed) << "no room for a datagram";
}

TEST(Seal, UsesNoNonceTwice) {
  Pair pair;
  std::set<std::vector<uint8_t>> nonces;
  constexpr unsigned kPackets = 1000;
  const auto add = [&](End& from) {
    for (const auto& payload : {sealed(from, 1).payload, AckPacket(from).payload})
      nonces.insert({&payload[Seal::kKeyIdSize], &payload[Seal::kFront]});
  };
  for (unsigned n = 0; n < kPackets; ++n) {
    add(pair.west);
    add(pair.east);
    if (n == kPackets / 2) pair.west.take({key(1)});  // a reload does not begin anew
  }
  EXPECT_EQ(nonces.size(), 4 * kPackets);
}

/// Key 2 is added on both sides, then sealed with, then key 1 is removed: the sides in either
/// order, and packets of each state on their way in the next.
TEST(Seal, LosesNoPacketWhenKeysRotate) {
  const std::vector<std::vector<SecretBytes>> steps{
      {key(1)}, {key(1), key(2)}, {key(2), key(1)}, {key(2)}};
  for (const bool west_first : {true, false}) {
    Pair pair;
    std::vector<Packet> to_east, to_west;
    const auto exchange = [&] {
      for (const Packet& p : to_east) EXPECT_EQ(open(pair.east, p), Opened::kAuthentic);
      for (const Packet& p : to_west) EXPECT_EQ(open(pair.west, p), Opened::kAuthentic);
      to_east = {sealed(pair.west, 1)};
      to_west = {sealed(pair.east, 1)};
    };
    for (size_t step = 1; step < steps.size(); ++step) {
      exchange();
      (west_first ? pair.west : pair.east).take(steps[step]);
      exchange();
      (west_first ? pair.east : pair.west).take(steps[step]);
    }
    exchange();
    exchange();
    const Packet last = sealed(pair.west, 2);
    EXPECT_EQ(open(pair.east, last), Opened::kAuthentic);
    pair.east.take({key(1)});
    EXPECT_EQ(open(pair.east, last), Opened::kUnknownKey) << "it is sealed with the new key";
  }
}

TEST(Seal, NeedsAKeyOfEachPeer) {
  Pair pair;
  config::Gateway without = End::with({{kEast, {}}});
  auto made = KeyRing::make(pair.west.gateway, without);
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().find("no key of peer"), std::string::npos) << made.error();
  without.security->unread = "Permission denied";
  made = KeyRing::make(pair.west.gateway, without);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error(), "the key file 'keys' cannot be read: Permission denied");
}

}  // namespace
}  // namespace turnpike::gateway
