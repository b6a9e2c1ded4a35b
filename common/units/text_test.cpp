// SPDX-License-Identifier: BSD-3-Clause
// Parsed text has the expected value, and printed text reads back as the same value.
#include "common/units/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace turnpike {
namespace {

TEST(Text, ReadsQuantitiesWithAndWithoutASpace) {
  EXPECT_EQ(parse_quantity<Nanos>("12.5 ms"), Nanos(12'500'000));
  EXPECT_EQ(parse_quantity<Nanos>("12.5ms"), Nanos(12'500'000));
  EXPECT_EQ(parse_quantity<Nanos>(" 2  min "), Nanos(120'000'000'000));
  EXPECT_EQ(parse_quantity<Nanos>("-1 us"), Nanos(-1000));
  EXPECT_EQ(parse_quantity<BitRate>("100 Gbps"), BitRate(100e9));
  EXPECT_EQ(parse_quantity<BitRate>("0.1Gbps"), BitRate(1e8));
  EXPECT_EQ(parse_quantity<Bytes>("64 KB"), Bytes(64'000));
  EXPECT_EQ(parse_quantity<Bytes>("64 KiB"), Bytes(65'536));
  EXPECT_EQ(parse_quantity<Budget>("1 $/s"), Budget(1));
  EXPECT_EQ(parse_quantity<Price>("1 $/GB"), Price(1e-9));
  EXPECT_EQ(parse_frequency("438 /s"), 438);
  EXPECT_EQ(parse_frequency("2.5/ms"), 2500);
}

TEST(Text, RefusesWhatIsNotAQuantity) {
  for (const char* bad : {"",       " ",     "ms",     "12",     "12.5",   "1 furlong", "1 MS",
                          "1 ms x", "1 m s", "nan ms", "inf s",  "-inf s", "1e400 s",   "1e300 h",
                          "0x10 s", "1,5 s", "+1 s",   "0.1 ns", "9e18 s", "1 Mbps",    "--1 s"})
    EXPECT_FALSE(parse_quantity<Nanos>(bad)) << bad;
  EXPECT_FALSE(parse_quantity<BitRate>("1e308 Tbps"));
  EXPECT_FALSE(parse_quantity<Bytes>("0.3 B"));
  EXPECT_FALSE(parse_frequency("438"));
}

TEST(Text, SaysWhichUnitsAreAccepted) {
  const auto bare = parse_quantity<BitRate>("100");
  ASSERT_FALSE(bare);
  EXPECT_NE(bare.error().find("no unit"), std::string::npos);
  EXPECT_NE(bare.error().find(accepted_units<BitRate>()), std::string::npos);
  const auto wrong = parse_quantity<BitRate>("100 mbit");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().find("'mbit'"), std::string::npos);
}

TEST(Text, PrintsInTheLargestUnitThatFits) {
  EXPECT_EQ(to_text(Nanos(12'500'000)), "12.5 ms");
  EXPECT_EQ(to_text(Nanos(0)), "0 s");
  EXPECT_EQ(to_text(Nanos(90'000'000'000)), "1.5 min");
  EXPECT_EQ(to_text(Nanos(-1500)), "-1.5 us");
  EXPECT_EQ(to_text(Bytes(250'000)), "250 KB");
  EXPECT_EQ(to_text(BitRate(1e11)), "100 Gbps");
  EXPECT_EQ(to_text(BitRate(0.5)), "0.5 bps");
  EXPECT_EQ(to_text(Price(2e-8)), "20 $/GB");
  EXPECT_EQ(to_text(Budget(1.5)), "1.5 $/s");
}

template <class Q>
void round_trips(Q v) {
  const std::string text = to_text(v);
  const auto back = parse_quantity<Q>(text);
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == v);
}

TEST(Text, EveryWholeQuantityReadsBackAsItself) {
  for (const int64_t extreme : {INT64_MAX, INT64_MIN + 1, INT64_MAX - 1, int64_t{1}, int64_t{-1}}) {
    EXPECT_EQ(parse_quantity<Nanos>(to_text(Nanos(extreme))), Nanos(extreme));
    EXPECT_EQ(parse_quantity<Bytes>(to_text(Bytes(extreme))), Bytes(extreme));
  }
  EXPECT_TRUE(rc::check([](int64_t v, uint8_t shift) {
    RC_PRE(v != INT64_MIN);
    round_trips(Nanos(v >> (shift % 64)));
    round_trips(Bytes(v >> (shift % 64)));
    round_trips(Nanos(static_cast<int64_t>(shift) * 1'000'000));
  }));
}

TEST(Text, EveryRealQuantityReadsBackAsItself) {
  EXPECT_TRUE(rc::check([] {
    const double mantissa = static_cast<double>(*rc::gen::inRange<int64_t>(1, int64_t{1} << 53));
    const double v = std::ldexp(mantissa, *rc::gen::inRange(-200, 200));
    round_trips(BitRate(v));
    round_trips(Price(v));
    round_trips(Budget(-v));
  }));
  EXPECT_EQ(parse_quantity<Price>(to_text(kMinPrice)), kMinPrice);
}

}  // namespace
}  // namespace turnpike
