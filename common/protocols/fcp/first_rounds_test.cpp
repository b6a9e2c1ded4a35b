// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/first_rounds.h"

#include <gtest/gtest.h>

namespace turnpike::fcp {
namespace {

constexpr double kTrip = 0.1, kRate = 1e6;  // s, B/s

TEST(FirstRounds, DrainsThoseThatWaitFirst) {
  FirstRounds book;
  book.book_ending(3000, 3000, 1e5, 1, 0.01);
  book.book_longer(2000, 2000);
  book.drain(1000, {});
  EXPECT_DOUBLE_EQ(book.booked().ending, 2000);
  EXPECT_DOUBLE_EQ(book.booked().longer, 2000);
  book.drain(3000, {});
  EXPECT_DOUBLE_EQ(book.booked().ending, 0);
  EXPECT_DOUBLE_EQ(book.booked().longer, 1000);
  book.drain(3000, {});
  EXPECT_DOUBLE_EQ(book.booked().sum(), 0);
}

TEST(FirstRounds, SharesTheLinkWithOtherLcores) {
  FirstRounds book;
  book.book_ending(3000, 3000, 1e5, 1, 0.01);
  book.drain(1000, {.ending = 5000, .longer = 1000});
  EXPECT_NEAR(book.booked().ending, 3000 - 1000.0 / 3, 1e-9);
}

TEST(FirstRounds, EachHasItsTurnOnce) {
  FirstRounds book;
  book.book_ending(3000, 3000, 2e5, 1, 0.01);
  book.book_ending(1000, 1000, 1e5, 4, 0.02);
  const auto ahead = book.begin_turns(1000);
  EXPECT_DOUBLE_EQ(ahead.bytes, 1000);
  EXPECT_DOUBLE_EQ(book.begin_turns(1000).bytes, 0) << "as much as may be ahead has begun";
  book.drain(500, {});
  EXPECT_DOUBLE_EQ(book.begin_turns(1000).bytes, 500);
  const auto rest = book.begin_turns(1e9);
  EXPECT_DOUBLE_EQ(rest.bytes, 2500);
  // 2000 B in 10 ms and 2000 B in 20 ms at their fastest; 1500 of 4000 have begun before.
  EXPECT_DOUBLE_EQ(rest.demand, (2e5 * 0.01 + 1e5 * 0.02) * 2500 / 4000);
  EXPECT_DOUBLE_EQ(rest.money, (1 * 0.01 + 4 * 0.02) * 2500 / 4000);
  EXPECT_DOUBLE_EQ(rest.byte_seconds / rest.bytes, (3000 * 0.01 + 1000 * 0.02) / 4000);
}

// The link was idle: bookings drained meanwhile have their turn, whatever `ahead` is.
TEST(FirstRounds, TurnsThatHavePassedBeginAtOnce) {
  FirstRounds book;
  book.book_ending(3000, 3000, 2e5, 1, 0.01);
  book.drain(1e9, {});
  EXPECT_TRUE(book.waiting());
  EXPECT_DOUBLE_EQ(book.begin_turns(0).bytes, 3000);
  EXPECT_FALSE(book.waiting());
}

TEST(FirstRounds, NoRestOfRoundingWaits) {
  FirstRounds book;
  for (int i = 1; i <= 1000; ++i) {
    book.book_ending(1e4 / i, 1e4 / i, 1e5 / i, 1, 0.01);
    const auto turn = book.begin_turns(book.booked().ending * (1 - 1e-12));
    EXPECT_GT(turn.byte_seconds, 0);
    EXPECT_NEAR(turn.byte_seconds / turn.bytes, 0.01, 1e-9);
    book.drain(1e9, {});
    EXPECT_FALSE(book.waiting());
  }
}

/// The credit after 200 round trips in which half of the capacity is announced and `comes` of it
/// arrives a round trip later.
double credit_of(double comes) {
  FirstRounds book;
  for (int i = 0; i < 2000; ++i) {
    book.book_ending(5000, 5000, 1e5, 1, 0.01);
    book.drain(kRate * kTrip / 10, {});
    if (i >= 10) book.count_arrival(5000 * comes);
    book.age(kTrip / 10, kTrip);
  }
  return book.credit(kRate, kTrip);
}

TEST(FirstRounds, CreditIsTheShareThatComes) {
  EXPECT_DOUBLE_EQ(FirstRounds().credit(kRate, kTrip), 1);
  EXPECT_DOUBLE_EQ(credit_of(1), 1);
  EXPECT_DOUBLE_EQ(credit_of(0.96), 1) << "a few losses are no sign of a false promise";
  EXPECT_NEAR(credit_of(0.5), 0.5 * FirstRounds::kSlack, 0.02);
  EXPECT_LT(credit_of(0), 0.03);
}

// A burst of SYNs on an idle link has full credit although nothing has arrived yet.
TEST(FirstRounds, CreditIsKeptWhileARoundTripPasses) {
  FirstRounds book;
  for (int i = 0; i < 100; ++i) {
    book.book_ending(30'000, 30'000, 1e5, 1, 0.01);
    book.drain(kRate * kTrip / 1000, {});
    book.age(kTrip / 1000, kTrip);
  }
  EXPECT_GT(book.credit(kRate, kTrip), 0.99);
}

}  // namespace
}  // namespace turnpike::fcp
