// SPDX-License-Identifier: BSD-3-Clause
// Accounts of customers in files that outlive the router.
#include "router/results/accounts.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/report/csv.h"

namespace turnpike::router {
namespace {

constexpr int64_t kNoon = 1'795'694'400'000'000'000;  // 2026-11-26T12:00:00Z
constexpr int64_t kSecondNs = 1'000'000'000;

class AccountsTest : public ::testing::Test {
 protected:
  AccountsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "accounts-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~AccountsTest() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] Accounts open(Nanos begin = Nanos(0)) const {
    auto file = DailyFile::open(folder, "west", Accounts::kColumns);
    EXPECT_TRUE(file) << file.error();
    return Accounts(std::move(*file), begin);
  }
  [[nodiscard]] std::string path(const std::string& day = "2026-11-26") const {
    return folder + "/west-" + day + ".csv";
  }
  [[nodiscard]] std::string text(const std::string& day = "2026-11-26") const {
    std::ifstream in(path(day));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Sum of a column over a customer's lines.
  [[nodiscard]] double sum(const std::string& customer, const std::string& column) const {
    const auto csv = report::Csv::parse(text());
    double total = 0;
    for (size_t row = 0; row < csv.rows(); ++row)
      if (csv.text(row, "customer") == customer) total += csv.number(row, column);
    return total;
  }

  std::string folder;
};

Account of(uint64_t packets, double spend, bool limited = false) {
  return {.customer = "anna",
          .packets = packets,
          .bytes = 1000 * packets,
          .spend = spend,
          .limited = limited};
}

TEST_F(AccountsTest, AFileThatIsRemovedIsBegunAgain) {
  Accounts accounts = open();
  const auto write = [&](int second) {
    return accounts.write(std::vector{of(100U * second, second)}, Nanos(second * kSecondNs),
                          kNoon + second * kSecondNs);
  };
  EXPECT_EQ(write(1), std::nullopt);
  std::filesystem::remove(path());
  const auto line = write(2);
  ASSERT_TRUE(line);
  EXPECT_NE(line->find(path()), std::string::npos) << *line;
  EXPECT_EQ(write(3), std::nullopt) << "it is said once";
  EXPECT_EQ(sum("anna", "packets"), 200) << "of the second and the third line";
  std::filesystem::rename(path(), path("moved"));
  EXPECT_TRUE(write(4));
  EXPECT_EQ(sum("anna", "packets"), 100);
}

TEST_F(AccountsTest, LinesAddUpToTheFigures) {
  Accounts accounts = open();
  double spend = 0;
  for (int s = 1; s <= 10; ++s) {
    spend += 0.1 * s;
    const std::vector all{of(100U * s, spend, s % 2 == 0),
                          Account{.customer = "bert, \"B\"", .packets = 7, .bytes = 700}};
    EXPECT_EQ(accounts.write(all, Nanos(s * kSecondNs), kNoon + s * kSecondNs), std::nullopt);
  }
  EXPECT_EQ(sum("anna", "packets"), 1000);
  EXPECT_EQ(sum("anna", "bytes"), 1e6);
  EXPECT_NEAR(sum("anna", "spend"), 5.5, 1e-12);
  EXPECT_EQ(sum("anna", "seconds"), 10);
  EXPECT_EQ(sum("anna", "limited_seconds"), 5);
  const auto csv = report::Csv::parse(text());
  EXPECT_EQ(csv.rows(), 11U) << "a customer that sends nothing has no line";
  EXPECT_EQ(sum("bert, \"B\"", "packets"), 7);
  EXPECT_EQ(csv.text(0, "time"), "2026-11-26T12:00:01.000Z");
  EXPECT_DOUBLE_EQ(csv.number(0, "price_per_mb"), 1.0) << "0.1 $ for 0.1 MB";
}

/// The bytes of a second cost 1 or 4 $/MB; of the next one 2.
TEST_F(AccountsTest, PercentilesAreOfTheLinesPeriod) {
  Accounts accounts = open();
  metrics::LogHistogram prices(1e-9), waits(16e3);
  Account anna = of(100, 1);
  anna.prices = &prices;
  anna.waits = &waits;
  prices.record(1e-6, 94'000);
  prices.record(4e-6, 6'000);
  waits.record(3e6, 100);
  accounts.write(std::vector{anna}, 1_s, kNoon);
  const Account idle = anna;
  accounts.write(std::vector{idle}, 2_s, kNoon);
  anna.packets += 100;
  prices.record(2e-6, 100'000);
  waits.record(7e6, 100);
  accounts.write(std::vector{anna}, 3_s, kNoon);
  const auto csv = report::Csv::parse(text());
  ASSERT_EQ(csv.rows(), 2U);
  EXPECT_NEAR(csv.number(0, "price_p95_per_mb"), 4, 0.25 * 4);
  EXPECT_EQ(csv.number(1, "price_p95_per_mb"), 2) << "exact where the price stood still";
  EXPECT_EQ(csv.number(0, "wait_p99_ms"), 3);
  EXPECT_EQ(csv.number(1, "wait_p99_ms"), 7);
}

TEST_F(AccountsTest, TimeAtTheCeilingIsSeparate) {
  Accounts accounts = open();
  for (uint64_t s = 1; s <= 6; ++s) {
    Account anna = of(s, 0, s <= 2);
    anna.at_ceiling = s > 2 && s <= 5;
    anna.offered_bytes = 3000 * s;
    anna.carried_bytes = 900 * s;
    anna.marked = 2 * s;
    accounts.write(std::vector{anna}, Nanos(static_cast<int64_t>(s) * kSecondNs), kNoon);
  }
  EXPECT_EQ(sum("anna", "limited_seconds"), 2);
  EXPECT_EQ(sum("anna", "ceiling_seconds"), 3);
  EXPECT_EQ(sum("anna", "offered_bytes"), 18'000);
  EXPECT_EQ(sum("anna", "carried_bytes"), 5'400);
  EXPECT_EQ(sum("anna", "marked"), 12);
}

TEST_F(AccountsTest, ACustomerWhosePacketsOnlyWaitHasALine) {
  Accounts accounts = open();
  Account anna = of(1, 0);
  accounts.write(std::vector{anna}, 1_s, kNoon);
  anna.offered_bytes = 500;
  accounts.write(std::vector{anna}, 2_s, kNoon);
  EXPECT_EQ(sum("anna", "offered_bytes"), 500);
}

/// A file that another version wrote on the same day stays as it is.
TEST_F(AccountsTest, AFileWithOtherColumnsIsLeftAlone) {
  for (const char* other : {"time,seconds,customer\n", "x\n"}) {
    std::ofstream(path(), std::ios::trunc) << other;
    Accounts accounts = open();
    EXPECT_EQ(accounts.write(std::vector{of(5, 0)}, 1_s, kNoon), std::nullopt);
    EXPECT_EQ(accounts.write(std::vector{of(6, 0)}, 2_s, kNoon), std::nullopt);
    EXPECT_EQ(text(), other);
  }
  const auto csv = report::Csv::parse(text("2026-11-26.2"));
  EXPECT_EQ(csv.rows(), 4U) << "the second writer goes on in the first one's";
}

TEST_F(AccountsTest, ALineIsOfTheTimeSinceTheCustomerWasIdle) {
  Accounts accounts = open();
  for (int s = 1; s <= 5; ++s)
    accounts.write(std::vector{of(s < 5 ? 1 : 2, 0)}, Nanos(s * kSecondNs), kNoon);
  const auto csv = report::Csv::parse(text());
  ASSERT_EQ(csv.rows(), 2U);
  EXPECT_EQ(csv.number(1, "seconds"), 1);
}

TEST_F(AccountsTest, StepsOfTheWallClockDoNotCountAsTime) {
  Accounts accounts = open();
  accounts.write(std::vector{of(1, 0)}, 1_s, kNoon);
  accounts.write(std::vector{of(2, 0)}, 2_s, kNoon - 3600 * kSecondNs);
  accounts.write(std::vector{of(3, 0)}, 3_s, kNoon + 3600 * kSecondNs);
  EXPECT_EQ(sum("anna", "seconds"), 3);
  EXPECT_EQ(sum("anna", "packets"), 3);
}

TEST_F(AccountsTest, EachDayHasAFile) {
  Accounts accounts = open();
  accounts.write(std::vector{of(1, 0)}, 1_s, kNoon);
  accounts.write(std::vector{of(3, 0)}, 2_s, kNoon + 12 * 3600 * kSecondNs);
  EXPECT_EQ(report::Csv::parse(text()).rows(), 1U);
  const auto next = report::Csv::parse(text("2026-11-27"));
  ASSERT_EQ(next.rows(), 1U);
  EXPECT_EQ(next.number(0, "packets"), 2);
}

TEST_F(AccountsTest, AKilledWriterLosesNothingThatItWrote) {
  const pid_t child = fork();
  if (child == 0) {
    Accounts accounts = open();
    for (int s = 1; s <= 3; ++s)
      accounts.write(std::vector{of(static_cast<uint64_t>(s), 0)}, Nanos(s * kSecondNs), kNoon);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(sum("anna", "packets"), 3);
}

TEST_F(AccountsTest, AHalfLineIsCutOff) {
  {
    Accounts accounts = open();
    accounts.write(std::vector{of(5, 0)}, 1_s, kNoon);
  }
  const std::string whole = text();
  std::ofstream(path(), std::ios::app) << "2026-11-26T12:00:02.000Z,1,an";
  Accounts again = open();
  again.write(std::vector{of(2, 0)}, 1_s, kNoon);
  EXPECT_EQ(text().substr(0, whole.size()), whole);
  EXPECT_EQ(report::Csv::parse(text()).rows(), 2U);
  EXPECT_EQ(sum("anna", "packets"), 7);
}

TEST_F(AccountsTest, WhatFindsNoRoomIsInALaterLine) {
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &before);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  Accounts accounts = open();
  accounts.write(std::vector{of(1, 0.5)}, 1_s, kNoon);
  const std::string whole = text();
  // Room for half a line: the write is short, then fails.
  const rlimit full{.rlim_cur = whole.size() + 10, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  const auto said = accounts.write(std::vector{of(2, 1)}, 2_s, kNoon);
  const auto silent = accounts.write(std::vector{of(3, 1.5)}, 3_s, kNoon);
  const std::string meanwhile = text();
  setrlimit(RLIMIT_FSIZE, &limit);
  const auto again = accounts.write(std::vector{of(4, 2)}, 4_s, kNoon);
  sigaction(SIGXFSZ, &before, nullptr);
  ASSERT_TRUE(said.has_value());
  EXPECT_NE(said->find(path()), std::string::npos) << *said;
  EXPECT_EQ(silent, std::nullopt) << "it is said once";
  EXPECT_EQ(meanwhile, whole);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(accounts.failures(), 2U);
  EXPECT_EQ(sum("anna", "packets"), 4);
  EXPECT_EQ(sum("anna", "spend"), 2);
  EXPECT_EQ(sum("anna", "seconds"), 4);
}

TEST_F(AccountsTest, TwoProcessesDoNotWriteOneFile) {
  Accounts first = open(), second = open();
  EXPECT_EQ(first.write(std::vector{of(1, 0)}, 1_s, kNoon), std::nullopt);
  const auto said = second.write(std::vector{of(1, 0)}, 1_s, kNoon);
  ASSERT_TRUE(said.has_value());
  EXPECT_NE(said->find("another process"), std::string::npos);
  EXPECT_EQ(sum("anna", "packets"), 1);
}

TEST_F(AccountsTest, AFolderThatCannotBeMadeIsAnError) {
  std::ofstream(folder + "/file") << "x";
  const auto file = DailyFile::open(folder + "/file/accounts", "west", Accounts::kColumns);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().find("file"), std::string::npos);
}

}  // namespace
}  // namespace turnpike::router
