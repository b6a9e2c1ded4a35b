// SPDX-License-Identifier: BSD-3-Clause
// Many rows at a time against rows one by one, and against the law's formulas.
#include "common/protocols/fcp/promise_batch.h"

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "common/units/instrumented.h"

namespace turnpike::fcp::promise_batch_test {
namespace {

constexpr PromiseBatch::Terms kTerms{.scale = {.tick = 1e-3F, .ticks = 1000, .passed = 0.25F},
                                     .life = 0.3F,
                                     .growth = 8.08F,
                                     .average_rtt = 0.05F,
                                     .price = 2e-9F,
                                     .unknown = 1e-9F,
                                     .large = 10'000};
constexpr size_t kBuckets = Knees::kBuckets;

struct Row {
  Header header;
  uint32_t size;
  double paid;
};

float odd(std::mt19937& random) {
  constexpr float kOdd[] = {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            -1,
                            0,
                            1e-40F,
                            kMinNormal,
                            kMaxPrice,
                            2e12F,
                            kMaxPreload,
                            std::numeric_limits<float>::max()};
  return kOdd[random() % std::size(kOdd)];
}

Row draw(std::mt19937& random) {
  const auto number = [&](float scale) { return scale * static_cast<float>(random() % 1000); };
  Row r{
      .header = {.rtt_ns = 1000 + static_cast<uint32_t>(random() % 4'000'000'000),
                 .price = number(1e-9F),
                 .reserve = number(1e-9F),
                 .age_ns = static_cast<uint32_t>(random()),
                 .preload = number(0.02F) - 2,
                 .balance = number(1e-9F),
                 .slot = number(1e-4F),
                 .first = random() % 4 == 0},
      .size = random() % 8 == 0 ? 0 : 40 + static_cast<uint32_t>(random() % 1460),
      .paid = random() % 8 == 0 ? std::numeric_limits<double>::quiet_NaN() : double{number(1e-9F)}};
  if (random() % 2 == 0) return r;
  for (float* field : {&r.header.price, &r.header.reserve, &r.header.preload, &r.header.balance,
                       &r.header.exchange, &r.header.charged, &r.header.slot})
    if (random() % 8 == 0) *field = odd(random);
  if (random() % 8 == 0) r.header.rtt_ns = random() % 2 == 0 ? 0 : ~uint32_t{0};
  return r;
}

std::array<uint8_t, kHeaderSize> bytes_of(const Header& h) {
  std::array<uint8_t, kHeaderSize> bytes;
  store(h, bytes.data());
  return bytes;
}

PromiseBatch::Totals reckon(PromiseBatch& batch, std::span<const Row> rows,
                            const PromiseBatch::Terms& terms = kTerms) {
  std::vector<std::array<uint8_t, kHeaderSize>> bytes(rows.size());
  std::vector<LinkPacket> burst(rows.size());
  for (size_t k = 0; k < rows.size(); ++k) {
    bytes[k] = bytes_of(rows[k].header);
    burst[k] = {.header = bytes[k].data(), .size = rows[k].size};
  }
  batch.read(burst);
  for (size_t k = 0; k < rows.size(); ++k) batch.headers.paid[k] = rows[k].paid;
  return batch.reckon(terms);
}

TEST(PromiseBatch, ManyAreReckonedAsOneByOne) {
  std::mt19937 random(7);
  auto many = std::make_unique<PromiseBatch>(), one = std::make_unique<PromiseBatch>();
  for (int burst = 0; burst < 2000; ++burst) {
    std::vector<Row> rows(3 + random() % 62);
    for (Row& r : rows) r = draw(random);
    const auto all = reckon(*many, rows);
    PromiseBatch::Totals sum;
    double rate = 0;
    for (size_t k = 0; k < rows.size(); ++k) {
      const auto alone = reckon(*one, std::span(rows).subspan(k, 1));
      const Header read = load(bytes_of(rows[k].header).data());
      ASSERT_EQ(alone.refused == 0, credible(read));
      sum.refused |= alone.refused << k;
      sum.first_bytes += alone.first_bytes;
      sum.clipped += alone.clipped;
      rate += double{alone.rate};
      sum.split += alone.split;
      ASSERT_EQ(many->ago[k], std::max(rows[k].header.rtt_ns, rows[k].header.age_ns));
      ASSERT_EQ(many->rate[k], one->rate[0]);
      ASSERT_EQ(many->budget[k], one->budget[0]);
      ASSERT_EQ(many->rtt_rate[k], one->rtt_rate[0]);
      ASSERT_EQ(many->rtt_sum[k], one->rtt_sum[0]);
      ASSERT_EQ(many->places[k], one->places[0]);
      ASSERT_TRUE(std::isfinite(many->rate[k]) && std::isfinite(many->budget[k]));
      ASSERT_TRUE(std::isfinite(many->rtt_rate[k]) && std::isfinite(many->rtt_sum[k]));
      ASSERT_LT(many->places[k], (PromiseWheel::kSlots - 1) * kBuckets);
    }
    ASSERT_EQ(all.refused, sum.refused);
    ASSERT_EQ(all.first_bytes, sum.first_bytes);
    ASSERT_EQ(all.clipped, sum.clipped);
    ASSERT_EQ(all.split, sum.split);
    ASSERT_NEAR(double{all.rate}, rate, 1e-5 * rate);
  }
}

TEST(PromiseBatch, PromiseIsTheHeadersCurve) {
  auto batch = std::make_unique<PromiseBatch>();
  const Header elastic{.rtt_ns = 50'000'000, .reserve = 2e-9F, .preload = 0.5F, .balance = 8e-9F};
  Header inelastic = elastic;
  inelastic.reserve = 20e-9F;
  Header long_slot = elastic;
  long_slot.slot = 0.0207F;
  // The first two paid 8e-9, all of it here; the third 3e-9 of that.
  const Row rows[] = {{elastic, 1500, 8e-9}, {inelastic, 1500, 8e-9}, {long_slot, 1500, 3e-9}};
  const auto totals = reckon(*batch, rows);
  const double next = 1500 / 0.015 * 1.5, slow = 1500 / 0.0207 * 1.5;
  EXPECT_NEAR(totals.rate, 2 * next + slow, 1);
  EXPECT_NEAR(batch->rate[0], next * 4, 1);
  EXPECT_NEAR(batch->budget[0], next * 8e-9, 1e-9);
  EXPECT_NEAR(batch->rate[1], next, 1);
  EXPECT_NEAR(batch->budget[1], next * 20e-9, 1e-9);
  EXPECT_NEAR(batch->rate[2], slow * 4 / 2, 1) << "two promises";
  EXPECT_NEAR(batch->budget[2], slow * 3e-9 / 2, 1e-9);
  const auto place = [](size_t ticks, double knee) {
    return ticks * kBuckets + Knees::bucket_of(knee);
  };
  EXPECT_EQ(batch->places[0], place(15, 2e-9));
  EXPECT_EQ(batch->places[1], place(15, 20e-9));
  EXPECT_EQ(batch->places[2], place(15, 0.75e-9));
}

// A packet of a flow that sends one in 50 ms, with a round trip of 10 ms: the flow waits for 40 ms
// at the price of now, 2e-9, instead of the one that it paid.
TEST(PromiseBatch, LivesUntilTheFlowsNextPacket) {
  auto batch = std::make_unique<PromiseBatch>();
  const auto ticks = [&](float reserve, float balance, double paid, float slot = 0.05F) {
    const Header h{.rtt_ns = 10'000'000, .reserve = reserve, .balance = balance, .slot = slot};
    const Row row{h, 1500, paid};
    reckon(*batch, std::span(&row, 1));
    EXPECT_FLOAT_EQ(batch->rtt_rate[0], 1500 / slot / 2) << "for as long as it was sent, twice";
    return batch->places[0] / kBuckets;
  };
  // The first of two promises ends before the next packet.
  const auto before = [](double life) { return static_cast<unsigned>(0.25 + 0.75 * life); };
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(ticks(1e-10F, 1e-9F, 1e-9), before(10 + 2 * 40)) << "twice the price";
  EXPECT_EQ(ticks(1e-10F, 4e-9F, 4e-9), before(10 + 40 / 2.0));
  EXPECT_EQ(ticks(1e-10F, 4e-9F, 1e-9), before(10 + 40 * 5 / 4.0)) << "3e-9 is another link's";
  EXPECT_EQ(ticks(1e-10F, 1e-12F, 1e-12), before(10 + 4 * 40)) << "at most fourfold";
  EXPECT_EQ(ticks(8e-9F, 1e-9F, 1e-9), before(50)) << "its application sends no faster";
  EXPECT_EQ(ticks(1.5e-9F, 4e-9F, 4e-9), before(10 + 40 / 2.0));
  EXPECT_EQ(ticks(3e-9F, 4e-9F, 4e-9), before(10 + 40 * 3 / 4.0)) << "no faster than it wants";
  EXPECT_EQ(ticks(1e-10F, 1e-9F, kUnknown), before(50));
  EXPECT_EQ(ticks(1e-10F, 1e-9F, 1e-9, 0.008F), before(8)) << "sent again before the ACK";
}

/// A flow that sends a packet in each gap has promised its rate on average, for any number of
/// packets in a life; after each packet it has half of one more.
TEST(PromiseBatch, SumUpToTheFlowsRate) {
  auto batch = std::make_unique<PromiseBatch>();
  for (float packets = 0.15F; packets < 40; packets *= kInstrumented ? 1.5F : 1.05F) {
    auto wheel = std::make_unique<PromiseWheel>();
    constexpr float kLife = 0.015F;  // s, of 50 ms
    const float slot = kLife / packets, rate = 1500 / slot;
    PromiseBatch::Terms terms = kTerms;
    const auto total = [&] {
      const auto& rates = wheel->sums().rate;
      return std::accumulate(rates.begin(), rates.end(), 0.0);
    };
    double sum = 0, samples = 0;
    Nanos next = 1_s;
    for (Nanos now = next; now < 4_s; now += 20_us) {
      wheel->advance(now, 50_ms, [](size_t) {});
      if (now >= next) {
        const Header h{.rtt_ns = 50'000'000, .reserve = 1, .balance = 2e-9F, .slot = slot};
        const Row row{h, 1500, 2e-9};
        terms.scale = wheel->scale();
        const auto totals = reckon(*batch, std::span(&row, 1), terms);
        batch->add_to(*wheel, totals);
        next += from_seconds(slot);
        if (now > 2_s && slot > 2 * terms.scale.tick) {
          EXPECT_NEAR(total() - double{totals.rate} / 2, rate, 0.02 * rate) << packets;
        }
      }
      if (now < 2_s || now.count() % 100'000 != 0) continue;
      sum += total();
      ++samples;
    }
    EXPECT_NEAR(sum / samples, rate, 0.01 * rate) << packets;
  }
}

}  // namespace
}  // namespace turnpike::fcp::promise_batch_test
