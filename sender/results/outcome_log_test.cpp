// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/outcome_log.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace turnpike::sender {
namespace {

constexpr uint32_t kMany = 3 * OutcomeLog::kInMemory + 5;

void expect_all(OutcomeLog& log, uint32_t count) {
  ASSERT_EQ(log.size(), count);
  const auto all = log.take();
  ASSERT_EQ(all.size(), count);
  for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(all[i].id, i);
}

/// Resident set size of this process in B.
size_t resident() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

TEST(OutcomeLog, GivesBackInOrder) {
  for (const uint32_t count : {0U, 1U, uint32_t{OutcomeLog::kInMemory}, kMany}) {
    OutcomeLog log(::testing::TempDir());
    for (uint32_t i = 0; i < count; ++i) log.push_back({.id = i});
    expect_all(log, count);
    EXPECT_EQ(log.size(), 0U);
    for (uint32_t i = 0; i < count; ++i) log.push_back({.id = i});
    expect_all(log, count);
  }
}

TEST(OutcomeLog, KeepsAllInMemoryWhereNoFileCanBeMade) {
  OutcomeLog log("/no/such/folder");
  for (uint32_t i = 0; i < kMany; ++i) log.push_back({.id = i});
  expect_all(log, kMany);
}

TEST(OutcomeLog, TakesNoMemoryForMore) {
  OutcomeLog log(::testing::TempDir());
  for (uint32_t i = 0; i < kMany; ++i) log.push_back({.id = i});
  const size_t before = resident();
  constexpr uint32_t kMore = 1'000'000;  // 56 MB
  for (uint32_t i = 0; i < kMore; ++i) log.push_back({.id = i});
  EXPECT_LT(resident(), before + 4'000'000);
  EXPECT_EQ(log.size(), kMany + kMore);
}

TEST(OutcomeLog, LeavesNoFileBehind) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "outcome-log";
  std::filesystem::create_directories(folder);
  OutcomeLog log(folder);
  for (uint32_t i = 0; i < kMany; ++i) log.push_back({.id = i});
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

}  // namespace
}  // namespace turnpike::sender
