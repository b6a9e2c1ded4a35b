// SPDX-License-Identifier: BSD-3-Clause
// Checksums against a byte-by-byte oracle; updated ones against recomputed ones.
#include "common/wire/checksum.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/wire/bytes.h"

namespace turnpike::wire {
namespace {

// RFC 1071, literally.
uint16_t naive_sum(std::span<const uint8_t> data) {
  uint32_t sum = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    sum += i % 2 == 0 ? data[i] << 8 : data[i];
    if (sum > 0xffff) sum = sum - 0xffff;  // end-around carry
  }
  return static_cast<uint16_t>(sum);
}

std::vector<uint8_t> random_bytes(std::mt19937_64& random, size_t n) {
  std::vector<uint8_t> bytes(n);
  // Runs of 0x00 and 0xff exercise the carries.
  const auto style = random() % 4;
  for (uint8_t& b : bytes) {
    b = style == 0   ? uint8_t{0}
        : style == 1 ? uint8_t{0xff}
        : style == 2 ? static_cast<uint8_t>(random() % 2 ? 0xff : 0)
                     : static_cast<uint8_t>(random());
  }
  return bytes;
}

TEST(Checksum, SumsToOnesWhereTheWordsDo) {
  std::mt19937_64 random(1);
  unsigned right = 0;
  for (int i = 0; i < 1000; ++i) {
    auto data = random_bytes(random, 20);
    if (random() % 2 == 0) {
      data[10] = data[11] = 0;
      store_be16(data.data() + 10, checksum_of(sum_words(data)));
    }
    const bool ones = sum_words(data) == 0xffff;
    right += ones;
    EXPECT_EQ(sums_to_ones<20>(data.data()), ones);
  }
  EXPECT_GT(right, 400u);
  EXPECT_LT(right, 800u);
}

TEST(Checksum, ExampleOfRfc1071) {
  const std::vector<uint8_t> data = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(sum_words(data), 0xddf2);
}

TEST(Checksum, FoldKeepsTheValueModulo65535AndZeroApart) {
  std::mt19937_64 random(1);
  EXPECT_EQ(fold(0), 0);
  EXPECT_EQ(fold(0xffff), 0xffff);
  EXPECT_EQ(fold(UINT64_MAX), 0xffff);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t v = random() >> (random() % 64);
    EXPECT_EQ(fold(v) % 0xffff, v % 0xffff);
    EXPECT_EQ(fold(v) == 0, v == 0);
  }
}

TEST(Checksum, SumAgreesWithTheOracleAtEveryLengthAndAlignment) {
  std::mt19937_64 random(2);
  for (size_t length = 0; length < 200; ++length) {
    for (size_t offset = 0; offset < 8; ++offset) {
      const auto bytes = random_bytes(random, length + offset);
      const auto data = std::span(bytes).subspan(offset);
      ASSERT_EQ(sum_words(data), naive_sum(data)) << length << " at " << offset;
    }
  }
}

TEST(Checksum, LargestDatagramDoesNotOverflow) {
  const std::vector<uint8_t> ones(65535, 0xff);
  EXPECT_EQ(sum_words(ones), naive_sum(ones));
}

TEST(Checksum, SumOfPacketsAgreesWithTheOracle) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 5000; ++i) {
    const size_t offset = random() % 16;
    const auto bytes = random_bytes(random, offset + random() % 2000);
    const auto data = std::span(bytes).subspan(offset);
    ASSERT_EQ(sum_words(data), naive_sum(data)) << data.size() << " at " << offset;
  }
}

TEST(Checksum, PiecesOfAnyLengthSumLikeTheWhole) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const auto bytes = random_bytes(random, random() % 100);
    PiecewiseSum sum;
    for (size_t at = 0; at < bytes.size();) {
      const size_t n = std::min<size_t>(random() % 20, bytes.size() - at);
      sum.add(std::span(bytes).subspan(at, n));
      at += n;
    }
    ASSERT_EQ(sum.folded(), sum_words(bytes));
  }
}

TEST(Checksum, ExampleOfRfc1624) {
  // Section 4: HC = 0xdd2f, m = 0x5555 becomes m' = 0x3285; equation 3 gives zero, not 0xffff.
  EXPECT_EQ(update_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
}

// A packet of 16-bit words: its checksum, a word that is never edited and never zero (as in every
// IPv4 header and pseudo-header), and words to edit.
uint16_t checksum_over(std::vector<uint8_t> packet, bool udp) {
  store_be16(packet.data(), 0);
  return udp ? udp_checksum_of(sum_words(packet)) : checksum_of(sum_words(packet));
}

TEST(Checksum, MendedEqualsRecomputedForRandomEdits) {
  std::mt19937_64 random(4);
  int zeros = 0;
  for (int i = 0; i < 300000; ++i) {
    const bool udp = i % 2 == 0;
    auto packet = random_bytes(random, 6 + 2 * (random() % 20));
    packet[3] |= 0x11;
    const uint16_t old = checksum_over(packet, udp);

    const size_t words = (packet.size() - 4) / 2;
    const size_t first = random() % words;
    const size_t count = 1 + random() % (words - first);
    const auto range = std::span(packet).subspan(4 + 2 * first, 2 * count);
    const uint16_t before = sum_words(range);
    std::ranges::copy(random_bytes(random, range.size()), range.begin());
    if (random() % 2 == 0) {  // steer towards a sum of 0xffff: the checksum that computes as zero
      store_be16(range.data(), 0);
      store_be16(packet.data(), 0);
      store_be16(range.data(), static_cast<uint16_t>(~sum_words(packet)));
    }
    const uint16_t after = sum_words(range);

    const uint16_t mended =
        udp ? update_udp_checksum(old, before, after) : update_checksum(old, before, after);
    ASSERT_EQ(mended, checksum_over(packet, udp));
    zeros += mended == (udp ? 0xffff : 0);
  }
  EXPECT_GT(zeros, 100000);
}

TEST(Checksum, MendedEqualsRecomputedForEveryWordAndEveryEdgeOfIt) {
  const std::vector<uint16_t> edges = {0x0000, 0x0001, 0x00ff, 0x7fff, 0x8000,
                                       0xff00, 0xfffe, 0xffff, 0x1234};
  for (const uint16_t constant : {0x0011, 0x4500, 0xffff}) {
    for (uint32_t before = 0; before <= 0xffff; ++before) {
      for (const uint16_t after : edges) {
        const uint16_t old = checksum_of(uint64_t{constant} + before);
        ASSERT_EQ(update_checksum(old, before, after), checksum_of(uint64_t{constant} + after));
        const uint16_t old_udp = udp_checksum_of(uint64_t{constant} + before);
        ASSERT_EQ(update_udp_checksum(old_udp, before, after),
                  udp_checksum_of(uint64_t{constant} + after));
      }
    }
  }
}

TEST(Checksum, MendedFromSumsThatAreNotFolded) {
  std::mt19937_64 random(7);
  const auto sum = [&] { return random() >> (16 + random() % 48); };
  for (int i = 0; i < 100000; ++i) {
    const uint64_t before = i == 0 ? 0 : sum(), after = i == 1 ? (uint64_t{1} << 48) - 1 : sum();
    const uint64_t constant = 1 + random() % 0xffff;
    ASSERT_EQ(update_udp_checksum(udp_checksum_of(constant + before), before, after),
              udp_checksum_of(constant + after));
  }
}

TEST(Checksum, AnAbsentUdpChecksumStaysAbsent) {
  for (uint32_t after = 0; after <= 0xffff; ++after) {
    ASSERT_EQ(update_udp_checksum(0, 0x1234, after), 0);
  }
}

TEST(Checksum, DecrementingTheTtlEqualsUpdating) {
  for (uint32_t c = 0; c < 0xffff; ++c)  // 0xffff stands for a sum of zero, which no header has
    for (const uint16_t ttl_protocol : {0xff11, 0x4006, 0x0211, 0x0100}) {
      uint8_t bytes[4];
      store_be16(bytes, ttl_protocol);
      store_be16(bytes + 2, static_cast<uint16_t>(c));
      decrement_ttl(bytes);
      ASSERT_EQ(load_be16(bytes), ttl_protocol - 0x100);
      ASSERT_EQ(load_be16(bytes + 2),
                update_checksum(static_cast<uint16_t>(c), ttl_protocol, ttl_protocol - 0x100U));
    }
}

}  // namespace
}  // namespace turnpike::wire
