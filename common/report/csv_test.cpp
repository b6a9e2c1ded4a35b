// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/csv.h"

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace turnpike::report {
namespace {

TEST(Csv, AnyFieldsReadBackAsTheyWere) {
  std::mt19937_64 rng(3);
  constexpr std::string_view kLetters = "ab,\"\n\r 1";
  const auto field = [&] {
    std::string text;
    for (size_t n = rng() % 6; n > 0; --n) text += kLetters[rng() % kLetters.size()];
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    const size_t columns = 1 + rng() % 4;
    std::vector<std::vector<std::string>> rows(1 + rng() % 5);
    std::string text;
    for (auto& row : rows) {
      for (size_t c = 0; c < columns; ++c) row.push_back(field());
      text += csv_line(row);
    }
    Csv parsed = Csv::parse(text);
    const Csv csv = std::move(parsed);  // views of fields stay valid
    EXPECT_EQ(csv.columns(), rows[0]);
    ASSERT_EQ(csv.rows(), rows.size() - 1) << text;
    for (size_t r = 0; r < csv.rows(); ++r)
      for (size_t c = 0; c < columns; ++c) EXPECT_EQ(csv.text(r, c), rows[r + 1][c]) << text;
  }
}

TEST(Csv, SkipsLinesWithOtherNumbersOfFields) {
  const Csv csv = Csv::parse("a,b\n1,2\n3\n4,5,6\n\n7,8\n9");
  ASSERT_EQ(csv.rows(), 2U);
  EXPECT_EQ(csv.number(0, "b"), 2);
  EXPECT_EQ(csv.number(1, "a"), 7);
}

TEST(Csv, HasNothingInColumnsThatItLacks) {
  const Csv csv = Csv::parse("a\nx\n");
  EXPECT_EQ(csv.text(0, "b"), "");
  EXPECT_TRUE(std::isnan(csv.number(0, "b")));
  EXPECT_TRUE(std::isnan(csv.number(0, "a")));
}

}  // namespace
}  // namespace turnpike::report
