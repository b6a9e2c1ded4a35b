// SPDX-License-Identifier: BSD-3-Clause
// AES-GCM against the test cases of its specification, and what damages a message.
#include "common/dpdk/aes_gcm.h"

#include <array>
#include <string>
#include <string_view>
#include <thread>

#include "common/units/instrumented.h"
#include "tests/support/eal.h"

namespace turnpike {
namespace {

using ByteVector = std::vector<uint8_t>;

ByteVector bytes(std::string_view hex) {
  ByteVector out;
  for (size_t i = 0; i < hex.size(); i += 2)
    out.push_back(static_cast<uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

/// McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", appendix B.
struct Case {
  const char* name;
  const char *key, *cipher, *tag;
};
constexpr const char* kText =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6"
    "b525b16aedf5aa0de657ba637b39";
constexpr const char* kAad = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
constexpr const char* kNonce = "cafebabefacedbaddecaf888";
constexpr std::array<Case, 2> kCases{{
    {"test case 4", "feffe9928665731c6d6a8f9467308308",
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84"
     "aa051ba30b396a0aac973d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {"test case 16", "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b105682"
     "8838c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
}};

/// A message and its parts, which a test may damage.
struct Parts {
  ByteVector text = bytes(kText), nonce = bytes(kNonce), aad = bytes(kAad),
             tag = ByteVector(AesGcm::kTagSize);
  AesGcm::Message message() {
    return {.text = text, .nonce = nonce.data(), .aad = aad.data(), .tag = tag.data()};
  }
};

/// Both keys of the cases, in their order.
AesGcm both() {
  const ByteVector first = bytes(kCases[0].key), second = bytes(kCases[1].key);
  const std::array<std::span<const uint8_t>, 2> keys{first, second};
  auto made = AesGcm::make(keys, bytes(kAad).size());
  if (!made) throw std::runtime_error(made.error());
  return std::move(*made);
}

TEST(AesGcm, SealsAndOpensAsSpecified) {
  const AesGcm cipher = both();
  for (size_t k = 0; k < kCases.size(); ++k) {
    SCOPED_TRACE(kCases[k].name);
    Parts p;
    ASSERT_TRUE(cipher.seal(k, p.message()));
    EXPECT_EQ(p.text, bytes(kCases[k].cipher));
    EXPECT_EQ(p.tag, bytes(kCases[k].tag));
    ASSERT_TRUE(cipher.open(k, p.message()));
    EXPECT_EQ(p.text, bytes(kText));
  }
}

TEST(AesGcm, OpensNothingThatWasChanged) {
  const AesGcm cipher = both();
  const auto opens = [&](size_t key, const auto& change) {
    Parts p;
    EXPECT_TRUE(cipher.seal(0, p.message()));
    change(p);
    return cipher.open(key, p.message());
  };
  EXPECT_TRUE(opens(0, [](Parts&) {}));
  EXPECT_FALSE(opens(1, [](Parts&) {})) << "another key";
  for (ByteVector Parts::*part : {&Parts::text, &Parts::nonce, &Parts::aad, &Parts::tag}) {
    const size_t size = (Parts().*part).size();
    for (size_t at = 0; at < size; ++at)
      EXPECT_FALSE(opens(0, [&](Parts& p) { (p.*part)[at] ^= 1; })) << at << " of " << size;
  }
  EXPECT_FALSE(opens(0, [](Parts& p) { p.text.pop_back(); }));
  EXPECT_FALSE(opens(0, [](Parts& p) { p.text.push_back(0); }));
}

TEST(AesGcm, AuthenticatesAMessageWithoutText) {
  const AesGcm cipher = both();
  Parts p;
  p.text.clear();
  ASSERT_TRUE(cipher.seal(1, p.message()));
  EXPECT_TRUE(cipher.open(1, p.message()));
  p.tag[0] ^= 1;
  EXPECT_FALSE(cipher.open(1, p.message()));
}

TEST(AesGcm, WorksOnAnotherThread) {
  if (kInstrumented) GTEST_SKIP() << "the driver does not free what it allocates for a thread";
  const AesGcm cipher = both();
  Parts p;
  bool sealed = false;
  std::thread([&] { sealed = cipher.seal(0, p.message()); }).join();
  EXPECT_TRUE(sealed);
  EXPECT_EQ(p.tag, bytes(kCases[0].tag));
}

TEST(AesGcm, RefusesAKeyOfAnotherSize) {
  const ByteVector short_key(15);
  const std::array<std::span<const uint8_t>, 1> keys{short_key};
  const auto made = AesGcm::make(keys, 0);
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().find("120 bits"), std::string::npos) << made.error();
}

}  // namespace
}  // namespace turnpike
