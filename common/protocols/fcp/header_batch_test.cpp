// SPDX-License-Identifier: BSD-3-Clause
// Computing many rows at a time equals computing them one by one.
#include "common/protocols/fcp/header_batch.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace turnpike::fcp {
namespace {

constexpr HeaderBatch::Terms kTerms{.per_d = 25, .average_rtt = 0.02, .max_commitment = 1e6};

struct Row {
  Header header;
  uint32_t size;
  bool admitted;
  double paid;
};

Row draw(std::mt19937& random) {
  constexpr float kOdd[] = {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), -1, 1e-40F, 2e12F};
  const auto number = [&](float scale) { return scale * static_cast<float>(random() % 1000); };
  Row r{
      .header = {.rtt_ns =
                     random() % 4 == 0 ? 0 : 1000 + static_cast<uint32_t>(random() % 4'000'000'000),
                 .price = number(1e-9F),
                 .preload = number(1) - 500,
                 .balance = number(1e-9F)},
      .size = 40 + static_cast<uint32_t>(random() % 1460),
      .admitted = random() % 8 != 0,
      .paid = number(1e-9F)};
  if (random() % 8 != 0) return r;
  const float odd = kOdd[random() % std::size(kOdd)];
  switch (random() % 6) {
    case 0:
      r.header.price = odd;
      break;
    case 1:
      r.header.preload = odd;
      break;
    case 2:
      r.header.balance = odd;
      break;
    case 3:
      r.header.exchange = odd;
      break;
    case 4:
      r.header.rtt_ns = 1 + static_cast<uint32_t>(random() % 1000);
      break;
    default:
      r.header.preload = 1e19F;  // more than a packet may promise
  }
  return r;
}

void add(HeaderBatch& batch, const Row& row) {
  uint8_t bytes[kHeaderSize];
  store(row.header, bytes);
  batch.paid[batch.count] = row.paid;
  batch.put(batch.count++, bytes, row.admitted ? row.size : 0);
}

TEST(HeaderBatch, ManyRowsTotalWhatTheyDoOneByOne) {
  std::mt19937 random(5);
  unsigned refused = 0;
  for (int round = 0; round < 3000; ++round) {
    HeaderBatch all;
    HeaderBatch::Totals sum;
    double largest = 0;
    const size_t rows = 1 + random() % HeaderBatch::kMax;
    for (size_t k = 0; k < rows; ++k) {
      const Row row = draw(random);
      add(all, row);
      HeaderBatch one;
      add(one, row);
      one.decode();
      const HeaderBatch::Totals t = one.total(kTerms);
      sum.base += t.base;
      sum.promised += t.promised;
      largest = std::max(largest, std::fabs(t.promised));
      sum.rtt += t.rtt;
      sum.rtt_count += t.rtt_count;
      sum.refused |= t.refused << k;
      sum.clipped += t.clipped;
      refused += static_cast<unsigned>(t.refused);
    }
    all.decode();
    const HeaderBatch::Totals t = all.total(kTerms);
    ASSERT_EQ(t.refused, sum.refused);
    ASSERT_EQ(t.clipped, sum.clipped);
    ASSERT_EQ(t.rtt_count, sum.rtt_count);
    ASSERT_NEAR(t.base, sum.base, 1e-12 * sum.base);
    ASSERT_NEAR(t.rtt, sum.rtt, 1e-12 * sum.rtt);
    ASSERT_NEAR(t.promised, sum.promised, 1e-12 * largest * static_cast<double>(rows));
  }
  EXPECT_GT(refused, 1000U);
}

TEST(HeaderBatch, PaysTheLesserOfThePriceThenAndTheBalance) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN(), kToday = 7e-9;
  HeaderBatch c;
  const auto row = [&](uint32_t rtt_ns, double then) {
    add(c, {{.rtt_ns = rtt_ns, .balance = 2e-9F}, 100, true, then});
  };
  row(1'000'000, 1e-9);
  row(1'000'000, 3e-9);
  row(1'000'000, kUnknown);
  row(0, 1e-9);
  c.decode();
  c.cap_at_balance(kToday, 1.5e-9);
  EXPECT_EQ(c.paid[0], 1e-9);
  EXPECT_EQ(c.paid[1], double{2e-9F});
  EXPECT_EQ(c.paid[2], 1.5e-9) << "an unknown past";
  EXPECT_EQ(c.paid[3], kToday);
}

TEST(HeaderBatch, StampAddsAsPricesAdd) {
  for (const double link : {1e-18, 2e-18, 1e-9, 1.0, 1e12}) {
    HeaderBatch c;
    const float paths[] = {0, 1e-18F, 2e-18F, 1e-9F, 0.5F, 1e12F};
    for (const float path : paths) add(c, {{.price = path}, 100, true, 0});
    c.decode();
    c.stamp(link);
    for (size_t k = 0; k < std::size(paths); ++k)
      EXPECT_EQ(std::bit_cast<float>(wire::swap_be32(c.price[k])),
                static_cast<float>(std::min<double>(add_prices(paths[k], link), kMaxPrice)));
  }
}

}  // namespace
}  // namespace turnpike::fcp
