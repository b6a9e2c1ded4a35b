// SPDX-License-Identifier: BSD-3-Clause
// The header codec: round trips, fixed bytes, and untrusted input.
#include "common/wire/turnpike_header.h"

#include <array>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "common/wire/checksum.h"

namespace turnpike::wire {
namespace {

constexpr size_t kCongestion = 20;

/// Decodes a copy with no memory around it, so that sanitizers detect reads beyond it.
HeaderError decode_tight(std::span<const uint8_t> data, Header& out) {
  const auto copy = std::make_unique<uint8_t[]>(data.size());
  std::ranges::copy(data, copy.get());
  return decode({copy.get(), data.size()}, out);
}

Header example() {
  return {.kind = Kind::kAck,
          .protocol = 1,
          .ranges = 1,
          .length = header_length(kCongestion, 1),
          .flow = 0x01020304,
          .sequence = 0x05060708,
          .acknowledgement = 0x090a0b0c,
          .echo = 0x11121314,
          .token = 0x0d0e0f10};
}

std::vector<uint8_t> bytes_of(const Header& header) {
  std::vector<uint8_t> data(header.length);
  const uint64_t sum = encode(header, data.data());
  EXPECT_EQ(fold(sum), sum_words({data.data(), kHeaderSize}));
  return data;
}

void expect_equal(const Header& a, const Header& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.protocol, b.protocol);
  EXPECT_EQ(a.ranges, b.ranges);
  EXPECT_EQ(a.length, b.length);
  EXPECT_EQ(a.flow, b.flow);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.acknowledgement, b.acknowledgement);
  EXPECT_EQ(a.timestamp, b.timestamp);
  EXPECT_EQ(a.echo, b.echo);
  EXPECT_EQ(a.token, b.token);
}

TEST(TurnpikeHeader, BytesAreThoseOfTheDiagram) {
  std::vector<uint8_t> data = bytes_of(example());
  store_range(example(), data.data(), 0, {.begin = 0x15161718, .end = 0x191a1b1c});
  std::vector<uint8_t> expected = {0x14, 1, 1, 13};  // version 1, ACK; protocol; ranges; 52 B
  for (uint8_t b = 1; b <= 0x14; ++b) expected.push_back(b);
  expected.resize(kHeaderSize + kCongestion);
  for (uint8_t b = 0x15; b <= 0x1c; ++b) expected.push_back(b);
  EXPECT_EQ(data, expected);
}

TEST(TurnpikeHeader, ComesBackAsItWent) {
  rc::check([] {
    Header h;
    h.kind = static_cast<Kind>(*rc::gen::inRange(1, 8));
    h.protocol = *rc::gen::arbitrary<uint8_t>();
    h.ranges = *rc::gen::inRange<uint8_t>(0, kMaxRanges + 1);
    const size_t most = (kMaxHeaderLength - header_length(0, h.ranges)) / kLengthUnit;
    h.length = header_length(*rc::gen::inRange<size_t>(0, most + 1) * kLengthUnit, h.ranges);
    h.flow = *rc::gen::arbitrary<uint32_t>();
    h.sequence = *rc::gen::arbitrary<uint32_t>();
    h.acknowledgement = *rc::gen::arbitrary<uint32_t>();
    (is_request(h.kind) ? h.timestamp : h.echo) = *rc::gen::arbitrary<uint32_t>();
    h.token = *rc::gen::arbitrary<uint32_t>();
    std::vector<uint8_t> data = bytes_of(h);
    for (uint32_t i = 0; i < h.ranges; ++i) store_range(h, data.data(), i, {i * 3, i * 3 + 1});

    Header back;
    RC_ASSERT(decode_tight(data, back) == HeaderError::kNone);
    expect_equal(back, h);
    for (uint32_t i = 0; i < h.ranges; ++i) {
      RC_ASSERT(load_range(back, data.data(), i).begin == i * 3);
      RC_ASSERT(load_range(back, data.data(), i).end == i * 3 + 1);
    }
  });
}

TEST(TurnpikeHeader, IsRefusedWhenCutAtAnyLength) {
  for (uint8_t ranges = 0; ranges <= kMaxRanges; ++ranges) {
    Header h = example();
    h.ranges = ranges;
    h.length = header_length(kCongestion, ranges);
    const std::vector<uint8_t> data = bytes_of(h);
    Header out;
    for (size_t cut = 0; cut < data.size(); ++cut) {
      ASSERT_EQ(decode_tight(std::span(data).first(cut), out), HeaderError::kTruncated) << cut;
    }
    EXPECT_EQ(decode_tight(data, out), HeaderError::kNone);
  }
}

TEST(TurnpikeHeader, FirstFourBytesAreJudgedExhaustively) {
  std::vector<uint8_t> data(kMaxHeaderLength);
  Header out;
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned ranges = 0; ranges < 256; ++ranges) {
      for (unsigned length = 0; length < 256; ++length) {
        data[0] = static_cast<uint8_t>(first);
        data[2] = static_cast<uint8_t>(ranges);
        data[3] = static_cast<uint8_t>(length);
        const unsigned kind = first & 15;
        const HeaderError expected = first >> 4 != kVersion ? HeaderError::kVersion
                                     : kind < 1 || kind > 7 ? HeaderError::kKind
                                     : ranges > 8 || length * 4 < 24 + ranges * 8
                                         ? HeaderError::kLength
                                         : HeaderError::kNone;
        ASSERT_EQ(decode(data, out), expected) << first << ' ' << ranges << ' ' << length;
      }
    }
  }
}

TEST(TurnpikeHeader, NoiseIsReadWithinItsBoundsOnly) {
  std::mt19937_64 random(5);
  int accepted = 0;
  for (int i = 0; i < 200000; ++i) {
    std::vector<uint8_t> data(random() % 120);
    for (uint8_t& b : data) b = static_cast<uint8_t>(random());
    if (!data.empty() && random() % 2 == 0) data[0] = static_cast<uint8_t>(0x10 | (data[0] & 7));
    if (data.size() > 3 && random() % 2 == 0) data[2] &= 7, data[3] &= 31;
    Header out;
    if (decode_tight(data, out) != HeaderError::kNone) continue;
    ++accepted;
    ASSERT_LE(out.length, data.size());
    for (size_t r = 0; r < out.ranges; ++r) {
      const auto tight = std::make_unique<uint8_t[]>(out.length);
      std::copy_n(data.data(), out.length, tight.get());
      load_range(out, tight.get(), r);
    }
  }
  EXPECT_GT(accepted, 1000);
}

TEST(TurnpikeHeader, TicksSurviveTheirWrap) {
  const Nanos before(Nanos(int64_t{UINT32_MAX} * 64).count());
  const Nanos after = before + Nanos(64 * 1000);
  EXPECT_LT(to_ticks(after), to_ticks(before));
  EXPECT_EQ(ticks_between(to_ticks(before), to_ticks(after)), Nanos(64000));
  EXPECT_EQ(ticks_between(to_ticks(after), to_ticks(before)), Nanos(-64000));
}

TEST(TurnpikeHeader, KindsAndErrorsHaveNames) {
  EXPECT_EQ(kind_name(Kind::kSynAck), "SYN-ACK");
  EXPECT_EQ(kind_name(static_cast<Kind>(15)), "unknown");
  EXPECT_EQ(error_name(HeaderError::kTruncated), "truncated");
}

}  // namespace
}  // namespace turnpike::wire
