// SPDX-License-Identifier: BSD-3-Clause
// Computing many rows at a time equals computing them one by one.
#include "common/protocols/fcp/header_batch.h"

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <vector>

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

/// A burst of packets with these headers.
class Burst {
 public:
  explicit Burst(std::span<const Row> rows) : bytes_(rows.size()) {
    for (size_t k = 0; k < rows.size(); ++k) {
      store(rows[k].header, bytes_[k].data());
      packets.push_back(
          {.header = bytes_[k].data(), .size = rows[k].size, .admitted = rows[k].admitted});
    }
  }
  std::vector<LinkPacket> packets;

 private:
  std::vector<std::array<uint8_t, kHeaderSize>> bytes_;
};

void fill(HeaderBatch& batch, std::span<const Row> rows) {
  batch.read<HeaderBatch::Counted::kAdmitted>(Burst(rows).packets);
  for (size_t k = 0; k < rows.size(); ++k) batch.paid[k] = rows[k].paid;
}

TEST(HeaderBatch, ManyRowsTotalWhatTheyDoOneByOne) {
  std::mt19937 random(5);
  unsigned refused = 0;
  for (int round = 0; round < 3000; ++round) {
    HeaderBatch all;
    HeaderBatch::Totals sum;
    double largest = 0;
    std::vector<Row> rows(1 + random() % HeaderBatch::kMax);
    for (size_t k = 0; k < rows.size(); ++k) {
      rows[k] = draw(random);
      HeaderBatch one;
      fill(one, {&rows[k], 1});
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
    fill(all, rows);
    const HeaderBatch::Totals t = all.total(kTerms);
    ASSERT_EQ(t.refused, sum.refused);
    ASSERT_EQ(t.clipped, sum.clipped);
    ASSERT_EQ(t.rtt_count, sum.rtt_count);
    ASSERT_NEAR(t.base, sum.base, 1e-12 * sum.base);
    ASSERT_NEAR(t.rtt, sum.rtt, 1e-12 * sum.rtt);
    ASSERT_NEAR(t.promised, sum.promised, 1e-12 * largest * static_cast<double>(rows.size()));
  }
  EXPECT_GT(refused, 1000U);
}

TEST(HeaderBatch, PaysTheLesserOfThePriceThenAndTheBalance) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN(), kToday = 7e-9;
  const auto row = [](uint32_t rtt_ns, double then) {
    return Row{{.rtt_ns = rtt_ns, .balance = 2e-9F}, 100, true, then};
  };
  HeaderBatch c;
  fill(c, std::array{row(1'000'000, 1e-9), row(1'000'000, 3e-9), row(1'000'000, kUnknown),
                     row(0, 1e-9)});
  c.cap_at_balance(kToday, 1.5e-9);
  EXPECT_EQ(c.paid[0], 1e-9);
  EXPECT_EQ(c.paid[1], double{2e-9F});
  EXPECT_EQ(c.paid[2], 1.5e-9) << "an unknown past";
  EXPECT_EQ(c.paid[3], kToday);
}

TEST(HeaderBatch, StampAddsAsPricesAdd) {
  for (const double link : {1e-18, 2e-18, 1e-9, 1.0, 1e12}) {
    const float paths[] = {0, 1e-18F, 2e-18F, 1e-9F, 0.5F, 1e12F};
    std::vector<Row> rows;
    for (const float path : paths) rows.push_back({{.price = path}, 100, true, 0});
    rows.push_back({{.price = 1}, 100, false, 0});
    rows.push_back({{.price = -1}, 100, true, 0});
    const Burst burst(rows);
    HeaderBatch c;
    c.read<HeaderBatch::Counted::kAdmitted>(burst.packets);
    c.stamp(link, burst.packets, uint64_t{1} << 7);
    for (size_t k = 0; k < std::size(paths); ++k)
      EXPECT_EQ(load(burst.packets[k].header).price,
                static_cast<float>(std::min<double>(add_prices(paths[k], link), kMaxPrice)));
    EXPECT_EQ(load(burst.packets[6].header).price, 1) << "dropped for want of room";
    EXPECT_EQ(load(burst.packets[7].header).price, -1) << "refused";
  }
}

}  // namespace
}  // namespace turnpike::fcp
