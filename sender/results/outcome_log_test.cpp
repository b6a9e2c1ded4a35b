// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/outcome_log.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "common/units/instrumented.h"

namespace turnpike::sender {
namespace {

constexpr uint32_t kMany = 3 * OutcomeLog::kInMemory + 5;

/// Outcomes that start in pairs, in an order that is not that of the numbers 0 to count - 1, which
/// are their ids.
void add(OutcomeLog& log, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const auto id = static_cast<uint32_t>(uint64_t{i} * 48271 % count);  // a prime above `count`
    log.push_back({.id = id, .host = id % 2, .start = Nanos(id / 2)});
  }
}

void expect_all(const OutcomeLog& log, uint32_t count) {
  ASSERT_EQ(log.size(), count);
  uint32_t next = 0;
  for (const FlowOutcome& outcome : log) ASSERT_EQ(outcome.id, next++);
  ASSERT_EQ(next, count);
}

/// Resident set size of this process in B.
size_t resident() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

TEST(OutcomeLog, VisitsAllInOrderAsOftenAsAsked) {
  for (const uint32_t count : {0U, 1U, uint32_t{OutcomeLog::kInMemory}, kMany}) {
    OutcomeLog log(::testing::TempDir());
    add(log, count);
    expect_all(log, count);
    expect_all(log, count);
    const OutcomeLog moved = std::move(log);
    expect_all(moved, count);
  }
}

TEST(OutcomeLog, TakesMoreAfterAVisit) {
  OutcomeLog log(::testing::TempDir());
  for (uint32_t i = 0; i < kMany; ++i) log.push_back({.id = i});
  expect_all(log, kMany);
  for (uint32_t i = kMany; i < 2 * kMany; ++i) log.push_back({.id = i});
  expect_all(log, 2 * kMany);
}

TEST(OutcomeLog, KeepsAllInMemoryWhereNoFileCanBeMade) {
  OutcomeLog log("/no/such/folder");
  add(log, kMany);
  expect_all(log, kMany);
}

// The second block is written in part. A file that exceeds the limit is what a full disk is.
TEST(OutcomeLog, KeepsInMemoryWhatTheFileHasNoRoomFor) {
  OutcomeLog log(::testing::TempDir());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit narrow = before;
  narrow.rlim_cur = OutcomeLog::kInMemory * sizeof(FlowOutcome) * 3 / 2;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &narrow), 0);
  add(log, kMany);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  expect_all(log, kMany);
}

TEST(OutcomeLog, TakesNoMemoryForMore) {
  OutcomeLog log(::testing::TempDir());
  for (uint32_t i = 0; i < kMany; ++i) log.push_back({.id = i});
  const size_t before = resident();
  constexpr uint32_t kMore = kInstrumented ? 100'000 : 1'000'000;  // 56 B each
  for (uint32_t i = kMany; i < kMany + kMore; ++i) log.push_back({.id = i});
  EXPECT_LT(resident(), before + 4'000'000);
  uint32_t seen = 0;
  size_t largest = 0;
  for ([[maybe_unused]] const FlowOutcome& outcome : log)
    if (++seen % kMany == 0) largest = std::max(largest, resident());
  EXPECT_LT(largest, before + 4'000'000);
  EXPECT_EQ(seen, kMany + kMore);
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
