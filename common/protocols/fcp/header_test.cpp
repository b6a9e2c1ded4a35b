// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/header.h"

#include <array>
#include <limits>

#include <gtest/gtest.h>

namespace turnpike::fcp {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kDenormal = std::numeric_limits<float>::denorm_min();

TEST(FcpHeader, SurvivesTheWire) {
  const Header h{20'000'000, 8e-8F, 3e-7F, 30'000'000, 1e13F, 1e-18F, 0.5F, 2.0F, 1e-4F, true};
  std::array<uint8_t, kHeaderSize> bytes{};
  store(h, bytes.data());
  const Header back = load(bytes.data());
  EXPECT_EQ(back.rtt_ns, h.rtt_ns);
  EXPECT_EQ(back.price, h.price);
  EXPECT_EQ(back.reserve, h.reserve);
  EXPECT_EQ(back.age_ns, h.age_ns);
  EXPECT_EQ(back.preload, h.preload);
  EXPECT_EQ(back.balance, h.balance);
  EXPECT_EQ(back.exchange, h.exchange);
  EXPECT_EQ(back.charged, h.charged);
  EXPECT_EQ(back.slot, h.slot);
  EXPECT_EQ(back.first, h.first);
  EXPECT_EQ(bytes[0], 0x01);  // 20,000,000 = 0x01312d00, most significant byte first
}

TEST(FcpHeader, BelievesWhatHonestSendersWrite) {
  EXPECT_TRUE(credible({}));
  EXPECT_TRUE(credible({.rtt_ns = 0, .preload = 250}));
  EXPECT_TRUE(
      credible({.rtt_ns = 100'000'000, .price = 1e-18F, .preload = 1e13F, .balance = 1e-18F}));
  EXPECT_TRUE(credible({.rtt_ns = 25'000'000, .price = 8e-8F, .preload = -1, .balance = 1}));
}

TEST(FcpHeader, RefusesWhatNobodyMeans) {
  const Header good{.rtt_ns = 20'000'000, .price = 8e-8F, .preload = 1, .balance = 8e-8F};
  ASSERT_TRUE(credible(good));
  for (const float bad : {kNan, kInf, -kInf, kDenormal, -kDenormal, 1e30F}) {
    for (float Header::*field : {&Header::price, &Header::preload, &Header::balance,
                                 &Header::exchange, &Header::charged}) {
      Header h = good;
      h.*field = bad;
      EXPECT_FALSE(credible(h)) << bad;
    }
  }
  for (float Header::*field :
       {&Header::price, &Header::balance, &Header::exchange, &Header::charged}) {
    Header h = good;
    h.*field = -1;
    EXPECT_FALSE(credible(h));
  }
  Header instant = good;
  instant.rtt_ns = 1;
  EXPECT_FALSE(credible(instant));
}

TEST(FcpHeader, FreeLinksAddNothing) {
  const double min = kMinPrice.count();
  const double min_on_wire = static_cast<float>(min);  // binary32 rounds it up
  EXPECT_EQ(add_prices(0, min), min);
  EXPECT_EQ(add_prices(min_on_wire, min), min);
  EXPECT_EQ(add_prices(min_on_wire, 3e-8), 3e-8);
  EXPECT_EQ(add_prices(3e-8, min), 3e-8);
  EXPECT_EQ(add_prices(3e-8, 1e-8), 4e-8);
}

}  // namespace
}  // namespace turnpike::fcp
