// SPDX-License-Identifier: BSD-3-Clause
#include "operator/filter.h"

#include <gtest/gtest.h>

namespace turnpike::ops {
namespace {

TEST(Filter, CompilesToBpf) {
  const auto made = compile_filter("udp and dst port 4747");
  ASSERT_TRUE(made) << made.error();
  EXPECT_GT(made->size(), 4U);
  EXPECT_EQ(made->front(), (nlohmann::ordered_json{0x28, 0, 0, 12}));  // ldh [12], the EtherType
}

TEST(Filter, ShowsThePlaceOfAMistake) {
  for (const auto& [text, column] : {std::pair<std::string, size_t>{"tcp porrt 80", 5},
                                     {"udp and and port 5", 9},
                                     {"host 10.0.0.1 and (tcp or", 26},
                                     {"nosuchword", 1},
                                     {"tcp )", 5}}) {
    const auto made = compile_filter(text);
    ASSERT_FALSE(made) << text;
    EXPECT_TRUE(made.error().starts_with("filter, column " + std::to_string(column) + ":"))
        << made.error();
  }
}

TEST(Filter, RefusesALongExpression) { EXPECT_FALSE(compile_filter(std::string(10'000, 'x'))); }

}  // namespace
}  // namespace turnpike::ops
