// SPDX-License-Identifier: BSD-3-Clause
#include "common/metrics/log.h"

#include <cstdlib>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/metrics/limited_sink.h"

namespace turnpike::metrics {
namespace {

TEST(Log, WritesFromItsLevelOnToStderr) {
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(set_up_log("turnpike-test", "warning"));
  spdlog::info("too little");
  spdlog::warn("enough {}", 42);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("too little"), std::string::npos);
  EXPECT_NE(text.find("Z turnpike-test warning enough 42\n"), std::string::npos) << text;
}

TEST(Log, EveryNamedLevelIsKnownAndNoOther) {
  std::string_view rest = kLogLevels;
  while (!rest.empty()) {
    const auto comma = rest.find(", ");
    EXPECT_TRUE(set_up_log("turnpike-test", rest.substr(0, comma))) << rest;
    rest = comma == rest.npos ? "" : rest.substr(comma + 2);
  }
  const auto bad = set_up_log("turnpike-test", "loud");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error(), "'loud' is not a log level: use one of " + std::string(kLogLevels));
}

TEST(Log, WritesThePriorityAloneToTheJournal) {
  ::testing::internal::CaptureStderr();
  struct stat status {};
  ASSERT_EQ(fstat(STDERR_FILENO, &status), 0);
  const std::string stream = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
  setenv("JOURNAL_STREAM", (stream + "1").c_str(), 1);
  EXPECT_FALSE(is_journal(STDERR_FILENO));
  setenv("JOURNAL_STREAM", stream.c_str(), 1);
  EXPECT_TRUE(is_journal(STDERR_FILENO));
  ASSERT_TRUE(set_up_log("turnpike-test", "debug"));
  spdlog::debug("seven");
  spdlog::info("six{}", fields({{"link", "a b"}}));
  spdlog::warn("four");
  spdlog::error("three");
  spdlog::critical("two");
  unsetenv("JOURNAL_STREAM");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "<7>seven\n<6>six link=\"a b\"\n<4>four\n<3>three\n<2>two\n");
}

TEST(Log, FieldsNeverEndALineOrAValue) {
  EXPECT_EQ(fields({{"a", "b"}, {"c", ""}, {"d", "x=\"y\"\\"}, {"e", "1\n<2>x\x7f"}}),
            R"( a=b c="" d="x=\"y\"\\" e="1\x0a<2>x\x7f")");
}

TEST(Log, FindsAMessagesFields) {
  EXPECT_EQ(without_fields("link is down link=up seconds=2"), "link is down");
  EXPECT_EQ(without_fields("a = b, c==d =e"), "a = b,");
  EXPECT_EQ(without_fields("nothing here"), "nothing here");
}

class Lines : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> lines;

 private:
  void sink_it_(const spdlog::details::log_msg& m) override {
    lines.emplace_back(m.payload.data(), m.payload.size());
  }
  void flush_() override {}
};

class LimitedLog : public ::testing::Test {
 protected:
  void log(int second, const std::string& text) {
    const spdlog::log_clock::time_point at(std::chrono::seconds(1000 + second));
    sink->log({at, {}, "test", spdlog::level::warn, text});
  }
  std::shared_ptr<Lines> out = std::make_shared<Lines>();
  std::unique_ptr<LimitedSink> sink = std::make_unique<LimitedSink>(out);
};

TEST_F(LimitedLog, ReportsHowManyRepetitionsItLeftOut) {
  for (int i = 0; i < 100; ++i) log(0, "link is down link=" + std::to_string(i));
  log(1, "something else");
  ASSERT_EQ(out->lines.size(), LimitedSink::kBurst + 1);
  EXPECT_EQ(out->lines[9], "link is down link=9");
  log(11, "something else");
  ASSERT_EQ(out->lines.size(), LimitedSink::kBurst + 3);
  EXPECT_EQ(out->lines[11], "link is down suppressed=90");
  log(12, "link is down link=x");
  EXPECT_EQ(out->lines.back(), "link is down link=x");
}

TEST_F(LimitedLog, ReportsTheRestAtTheEnd) {
  for (int i = 0; i < 12; ++i) log(0, "again");
  sink.reset();
  EXPECT_EQ(out->lines.back(), "again suppressed=2");
}

TEST_F(LimitedLog, BoundsTheMessagesThatItKnows) {
  for (size_t i = 0; i < 10 * LimitedSink::kMaxKnown; ++i) log(0, "kind " + std::to_string(i));
  EXPECT_EQ(out->lines.size(), LimitedSink::kMaxKnown + LimitedSink::kBurst);
  log(20, "new");
  EXPECT_EQ(out->lines[out->lines.size() - 2],
            "other messages suppressed=" +
                std::to_string(9 * LimitedSink::kMaxKnown - LimitedSink::kBurst));
}

}  // namespace
}  // namespace turnpike::metrics
