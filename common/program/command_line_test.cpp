// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/command_line.h"

#include <array>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace turnpike {
namespace {

TEST(CommandLine, NumbersWithin) {
  for (const char* good : {"0", "0.5", "1", "1e-3"})
    EXPECT_EQ(number_within(good, 0, 1), "") << good;
  for (const char* bad : {"nan", "-nan", "inf", "-0.1", "1.01", "", "1x", "x"})
    EXPECT_NE(number_within(bad, 0, 1), "") << bad;
}

TEST(CommandLine, EmptyArguments) {
  const auto has = [](std::initializer_list<const char*> words) {
    std::vector<char*> all{const_cast<char*>("program")};
    for (const char* w : words) all.push_back(const_cast<char*>(w));
    return has_empty_argument(all, "program");
  };
  EXPECT_FALSE(has({}));
  EXPECT_FALSE(has({"file", "--out", "x", "--set", "links.a.rate="}));
  EXPECT_TRUE(has({"file", "--out", ""}));
  EXPECT_TRUE(has({"--out="}));
  EXPECT_FALSE(has({"--out", "x", "--", ""})) << "DPDK's";
}

TEST(CommandLine, Seeds) {
  const auto seed_of = [](const char* text) {
    std::optional<uint64_t> seed;
    CLI::App app;
    add_seed(app, seed);
    const std::array words{"program", "--seed", text};
    app.parse(static_cast<int>(words.size()), words.data());
    return seed;
  };
  EXPECT_EQ(seed_of("7"), 7U);
  EXPECT_EQ(seed_of("18446744073709551615"), UINT64_MAX);
  for (const char* bad : {"-1", "18446744073709551616", "1.5", "0x7", " 7"})
    EXPECT_THROW(seed_of(bad), CLI::ParseError) << bad;
}

}  // namespace
}  // namespace turnpike
