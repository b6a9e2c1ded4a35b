// SPDX-License-Identifier: BSD-3-Clause
#include "common/metrics/log.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

namespace turnpike::metrics {
namespace {

TEST(Log, WritesFromItsLevelOnToStderr) {
  testing::internal::CaptureStderr();
  ASSERT_TRUE(set_up_log("turnpike-test", "warning"));
  spdlog::info("too little");
  spdlog::warn("enough {}", 42);
  const std::string text = testing::internal::GetCapturedStderr();
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

}  // namespace
}  // namespace turnpike::metrics
