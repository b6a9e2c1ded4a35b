// SPDX-License-Identifier: BSD-3-Clause
// Charges of packets, one by one and in columns.
#include "common/protocols/fcp/charge.h"

#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "common/protocols/fcp/header.h"

namespace turnpike::fcp::charge_test {
namespace {

using Bytes = std::array<uint8_t, kHeaderSize>;

TEST(FcpCharge, IsWhatTheHeaderSays) {
  Bytes bytes;
  store({.rtt_ns = 20'000'000,
         .reserve = 4e-7F,
         .preload = 0.5F,
         .balance = 2e-7F,
         .charged = 0x1p-23F,
         .slot = 1e-3F,
         .first = true},
        bytes.data());
  const Charge c = charge_of(bytes.data(), 1500, false);
  EXPECT_FLOAT_EQ(c.paid, 3e-4F);
  EXPECT_FLOAT_EQ(c.charged, 1500 * 0x1p-23F);
  EXPECT_FLOAT_EQ(c.committed, 9e-4F);
  EXPECT_FLOAT_EQ(c.expected, 4.5e-4F);
  EXPECT_FLOAT_EQ(c.rtt, 0.02F);
  EXPECT_TRUE(c.first);
  EXPECT_FALSE(c.slow);
  const Charge syn = charge_of(bytes.data(), 84, true);
  EXPECT_FLOAT_EQ(syn.first_bytes, 42);
  EXPECT_FLOAT_EQ(syn.budget, 2e-7F);
  EXPECT_EQ(syn.paid, 0);
}

// Any bytes: a third of them all ones, which are NaN.
TEST(FcpCharge, ColumnsAreAsTheSinglePackets) {
  std::mt19937 random(1);
  for (size_t count = 1; count <= ChargeBatch::kMax; ++count) {
    std::array<Bytes, ChargeBatch::kMax> packets;
    ChargeBatch all, payments;
    for (size_t k = 0; k < count; ++k) {
      for (uint8_t& b : packets[k]) b = static_cast<uint8_t>(k % 3 == 0 ? 0xff : random());
      const uint32_t size = 84 + random() % 9000;
      all.add(packets[k].data(), size);
      payments.add(packets[k].data(), size);
    }
    EXPECT_FALSE(read_charges(all)) << "the first has no value";
    read_payments(payments);
    double counted = 0, owed = 0;
    for (size_t k = 0; k < count; ++k) {
      const Charge c = charge_of(packets[k].data(), all.sizes[k], false);
      EXPECT_EQ(all.rows[k].paid, c.paid);
      EXPECT_EQ(all.rows[k].committed, c.committed);
      EXPECT_EQ(all.rows[k].announced, c.announced());
      EXPECT_EQ(all.rows[k].rtt, c.rtt);
      EXPECT_EQ(all.first[k] != 0, c.first);
      EXPECT_EQ(payments.paid[k], c.paid);
      EXPECT_EQ(payments.charged[k], c.charged);
      for (const float v : {c.paid, c.charged, c.committed}) EXPECT_GE(v, 0);
      if (c.charged <= 0) continue;
      counted += all.sizes[k];
      if (c.paid < c.charged)
        owed +=
            all.sizes[k] * (std::isinf(c.charged) ? 1.0 : 1 - double{c.paid} / double{c.charged});
    }
    EXPECT_NEAR(payments.charged_bytes, counted, 0.5);
    EXPECT_NEAR(payments.owed_bytes, owed, 0.5);
  }
}

TEST(FcpCharge, ForeignMoneyIsSeen) {
  for (const float value : {1.0F, 2.0F}) {
    std::array<Bytes, 3> packets;
    ChargeBatch batch;
    for (Bytes& p : packets) {
      store({.rtt_ns = 1'000'000, .exchange = &p == &packets[2] ? value : 1}, p.data());
      batch.add(p.data(), 100);
    }
    EXPECT_EQ(read_charges(batch), value == 1);
  }
}

TEST(FcpCharge, TellsSlowFlowsAndFirstRounds) {
  Bytes bytes;
  const auto charge = [&](float slot) {
    store({.rtt_ns = 20'000'000, .slot = slot}, bytes.data());
    return charge_of(bytes.data(), 100, false);
  };
  EXPECT_TRUE(charge(0.02F).slow);
  EXPECT_FALSE(charge(0.019F).slow);
  EXPECT_FALSE(charge(0.02F).first);
  EXPECT_TRUE(charge(0).first) << "it does not say";
}

}  // namespace
}  // namespace turnpike::fcp::charge_test
