// SPDX-License-Identifier: BSD-3-Clause
// Built frames are located and verified; damaged and truncated ones are refused.
#include "common/wire/frame_builder.h"

#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"

namespace turnpike::wire {
namespace {

FrameError locate_tight(std::span<const uint8_t> frame, UdpFrame& out) {
  const auto copy = std::make_unique<uint8_t[]>(frame.size());
  std::ranges::copy(frame, copy.get());
  return locate_udp({copy.get(), frame.size()}, out);
}

FrameSpec random_spec(std::mt19937_64& random) {
  FrameSpec spec;
  for (uint8_t& b : spec.source_mac) b = static_cast<uint8_t>(random());
  for (uint8_t& b : spec.destination_mac) b = static_cast<uint8_t>(random());
  if (random() % 2 == 0) spec.vlan = static_cast<uint16_t>(random());
  if (random() % 2 == 0) {
    spec.addresses = Ipv4Pair{static_cast<uint32_t>(random()), static_cast<uint32_t>(random())};
  } else {
    Ipv6Pair pair;
    for (uint8_t& b : pair.source) b = static_cast<uint8_t>(random());
    for (uint8_t& b : pair.destination) b = static_cast<uint8_t>(random());
    spec.addresses = pair;
  }
  spec.source_port = static_cast<uint16_t>(random());
  spec.destination_port = static_cast<uint16_t>(random());
  spec.ttl = static_cast<uint8_t>(random());
  spec.traffic_class = static_cast<uint8_t>(random());
  spec.dont_fragment = random() % 2 == 0;
  spec.udp_checksum = random() % 4 != 0;
  return spec;
}

TEST(FrameBuilder, FramesAreFoundAndVerifiedAgain) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 20000; ++i) {
    const FrameSpec spec = random_spec(random);
    std::vector<uint8_t> payload(random() % 60);
    for (uint8_t& b : payload) b = static_cast<uint8_t>(random());
    const auto datagram = static_cast<uint16_t>(random() % 3 == 0 ? 0 : 108 + random() % 1400);
    const auto frame = build_frame(spec, payload, datagram);

    UdpFrame at;
    ASSERT_EQ(locate_tight(frame, at), FrameError::kNone);
    ASSERT_EQ(verify_checksums(frame, at), FrameError::kNone);
    EXPECT_EQ(at.ipv6, std::holds_alternative<Ipv6Pair>(spec.addresses));
    EXPECT_EQ(at.ttl, spec.ttl);
    EXPECT_EQ(at.ip, spec.vlan ? 18 : 14);
    EXPECT_EQ(at.udp - at.ip, at.ipv6 ? 40 : 20);
    EXPECT_EQ(frame.size(), size_t{at.ip} + at.datagram);
    EXPECT_EQ(at.datagram, datagram == 0 ? at.payload - at.ip + payload.size() : datagram);
    EXPECT_EQ(frame.size(), size_t{at.payload} + at.payload_size);
    EXPECT_TRUE(std::equal(payload.begin(), payload.end(), frame.begin() + at.payload));
    EXPECT_EQ(load_be16(frame.data() + at.udp), spec.source_port);
    EXPECT_EQ(load_be16(frame.data() + at.udp + 2), spec.destination_port);
    EXPECT_EQ(load_be16(frame.data() + at.udp + kUdpChecksumAt) != 0, spec.udp_checksum);
  }
}

TEST(FrameBuilder, EveryFlippedBitBehindEthernetIsNoticed) {
  std::mt19937_64 random(7);
  for (const bool ipv6 : {false, true}) {
    FrameSpec spec = random_spec(random);
    spec.vlan.reset();
    spec.udp_checksum = true;
    if (ipv6) {
      spec.addresses = Ipv6Pair{{1, 2, 3}, {4, 5, 6}};
    } else {
      spec.addresses = Ipv4Pair{0x0a000001, 0x0a000002};
    }
    const auto good = build_frame(spec, std::vector<uint8_t>(21, 0x5a));
    for (size_t bit = kEthernetSize * 8; bit < good.size() * 8; ++bit) {
      const size_t within = bit / 8 - kEthernetSize;
      // IPv6 has no checksum over its traffic class, flow label and hop limit.
      if (ipv6 && (within < 4 || within == kIpv6HopLimitAt)) continue;
      auto bad = good;
      bad[bit / 8] = static_cast<uint8_t>(bad[bit / 8] ^ 1u << bit % 8);
      UdpFrame at;
      const bool noticed = locate_tight(bad, at) != FrameError::kNone ||
                           verify_checksums(bad, at) != FrameError::kNone;
      EXPECT_TRUE(noticed) << "byte " << within << " bit " << bit % 8;
    }
  }
}

TEST(FrameBuilder, AFrameCutAtAnyLengthIsTruncated) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 200; ++i) {
    const auto frame = build_frame(random_spec(random), std::vector<uint8_t>(random() % 40));
    UdpFrame at;
    for (size_t cut = 0; cut < frame.size(); ++cut) {
      ASSERT_EQ(locate_tight(std::span(frame).first(cut), at), FrameError::kTruncated);
    }
  }
}

TEST(FrameBuilder, PaddingOfShortFramesIsNotPayload) {
  FrameSpec spec;
  spec.addresses = Ipv4Pair{1, 2};
  auto frame = build_frame(spec, std::vector<uint8_t>(2, 7));
  frame.resize(60, 0xee);
  UdpFrame at;
  ASSERT_EQ(locate_udp(frame, at), FrameError::kNone);
  EXPECT_EQ(at.payload_size, 2);
  EXPECT_EQ(verify_checksums(frame, at), FrameError::kNone);
}

TEST(FrameBuilder, WhatIsNotOneWholeUdpDatagramIsRefusedByName) {
  FrameSpec spec;
  spec.addresses = Ipv4Pair{1, 2};
  const auto good = build_frame(spec, std::vector<uint8_t>(16));
  const auto with = [&](size_t at, uint8_t value) {
    auto frame = good;
    frame[at] = value;
    UdpFrame out;
    return locate_tight(frame, out);
  };
  constexpr size_t ip = kEthernetSize, udp = ip + kIpv4Size;
  EXPECT_EQ(with(13, 0x06), FrameError::kNotIp);         // ARP
  EXPECT_EQ(with(ip, 0x65), FrameError::kNotIp);         // version 6 in an IPv4 frame
  EXPECT_EQ(with(ip, 0x44), FrameError::kLength);        // header of 16 B
  EXPECT_EQ(with(ip + 3, 19), FrameError::kLength);      // shorter than its header
  EXPECT_EQ(with(ip + 3, 255), FrameError::kTruncated);  // longer than the frame
  EXPECT_EQ(with(ip + 3, 27), FrameError::kLength);      // no room for UDP
  EXPECT_EQ(with(ip + 6, 0x20), FrameError::kFragment);  // more fragments
  EXPECT_EQ(with(ip + 7, 0x01), FrameError::kFragment);  // an offset
  EXPECT_EQ(with(ip + 9, 6), FrameError::kNotUdp);       // TCP
  EXPECT_EQ(with(udp + 5, 7), FrameError::kLength);      // UDP shorter than its header
  EXPECT_EQ(with(udp + 5, 25), FrameError::kLength);     // longer than the datagram
  EXPECT_EQ(with(12, 0x81), FrameError::kNotIp);         // VLAN with an unknown type inside
}

TEST(FrameBuilder, NoiseIsReadWithinItsBoundsOnlyAndOnePassFindsTheSame) {
  std::mt19937_64 random(9);
  int found = 0;
  for (int i = 0; i < 200000; ++i) {
    auto frame = build_frame(random_spec(random), std::vector<uint8_t>(random() % 30));
    for (auto flips = random() % 4; flips > 0; --flips) {
      frame[12 + random() % (frame.size() - 12)] = static_cast<uint8_t>(random());
    }
    frame.resize(random() % 2 == 0 ? frame.size() : random() % (frame.size() + 1));
    UdpFrame at, thorough;
    const FrameError error = locate_tight(frame, at);
    ASSERT_EQ(error, locate_any_udp(frame, thorough));
    if (error != FrameError::kNone) continue;
    ++found;
    ASSERT_EQ(at, thorough);
    ASSERT_LE(size_t{at.payload} + at.payload_size, frame.size());
    verify_checksums(frame, at);
  }
  EXPECT_GT(found, 1000);
}

TEST(FrameBuilder, AComputedZeroChecksumIsSentAsOnes) {
  FrameSpec spec;
  spec.addresses = Ipv4Pair{0, 0};
  // Protocol 17 + lengths 10 + 10 + the word = 0xffff.
  const uint16_t word = 0xffff - 17 - 10 - 10;
  std::vector<uint8_t> payload(2);
  store_be16(payload.data(), word);
  const auto frame = build_frame(spec, payload);
  EXPECT_EQ(load_be16(frame.data() + 14 + 20 + kUdpChecksumAt), 0xffff);
}

}  // namespace
}  // namespace turnpike::wire
