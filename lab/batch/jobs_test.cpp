// SPDX-License-Identifier: BSD-3-Clause
#include "lab/batch/jobs.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>
#include <unistd.h>

namespace turnpike::lab {
namespace {

class Jobs : public testing::Test {
 protected:
  Jobs() { std::filesystem::create_directories(folder_); }
  ~Jobs() override { std::filesystem::remove_all(folder_); }

  void add(const std::string& script) {
    commands_.push_back({.name = "job",
                         .argv = {"/bin/sh", "-c", "cd " + folder_ + "\n" + script},
                         .log = folder_ + "/log-" + std::to_string(commands_.size())});
  }
  bool run(unsigned at_once) {
    ends_.clear();
    return run_jobs(commands_, at_once, [&](const JobEnd& end) { ends_.emplace(end.job, end); });
  }

  const std::string folder_ =
      (std::filesystem::temp_directory_path() / ("turnpike-jobs-" + std::to_string(::getpid())))
          .string();
  std::vector<Command> commands_;
  std::map<size_t, JobEnd> ends_;
};

TEST_F(Jobs, AllRunAndTellTheirOutput) {
  for (int i = 0; i < 7; ++i) add("echo one " + std::to_string(i) + "; echo two");
  for (const unsigned at_once : {1U, 3U, 20U}) {
    EXPECT_TRUE(run(at_once));
    ASSERT_EQ(ends_.size(), 7);
    for (const auto& [job, end] : ends_)
      EXPECT_EQ(end.output, "one " + std::to_string(job) + "\ntwo\n");
  }
}

TEST_F(Jobs, NoMoreThanWantedAtATime) {
  for (int i = 0; i < 6; ++i) add("touch on-$$; ls | grep -c '^on-'; sleep 0.05; rm on-$$");
  EXPECT_TRUE(run(2));
  for (const auto& [job, end] : ends_) EXPECT_LE(std::stoi(end.output), 2);
}

TEST_F(Jobs, OneThatFailsSaysWhyAndKeepsNoneFromRunning) {
  add("echo the reason >&2; exit 3");
  add("kill -9 $$");
  add("echo fine");
  commands_.push_back({.name = "none", .argv = {"/no/such/program"}, .log = folder_ + "/none"});
  EXPECT_TRUE(run(2));
  ASSERT_EQ(ends_.size(), 4);
  EXPECT_EQ(ends_[0].why, "failed with exit code 3:\nthe reason");
  EXPECT_EQ(ends_[1].why, "was ended by signal 9");
  EXPECT_EQ(ends_[2].why, "");
  EXPECT_FALSE(ends_[3].why.empty());
}

TEST_F(Jobs, AnInterruptEndsAll) {
  add("kill -INT $PPID; sleep 20");
  add("sleep 20");
  EXPECT_FALSE(run(2));
  EXPECT_TRUE(ends_.empty());
}

}  // namespace
}  // namespace turnpike::lab
