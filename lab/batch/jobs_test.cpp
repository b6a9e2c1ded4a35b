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

class Jobs : public ::testing::Test {
 protected:
  Jobs() { std::filesystem::create_directories(folder); }
  ~Jobs() override { std::filesystem::remove_all(folder); }

  void add(const std::string& script) {
    commands.push_back({.name = "job",
                        .argv = {"/bin/sh", "-c", "cd " + folder + "\n" + script},
                        .log = folder + "/log-" + std::to_string(commands.size())});
  }
  bool run(unsigned at_once) {
    ends.clear();
    return run_jobs(commands, at_once, [&](const JobEnd& end) { ends.emplace(end.job, end); });
  }

  const std::string folder =
      (std::filesystem::temp_directory_path() / ("turnpike-jobs-" + std::to_string(::getpid())))
          .string();
  std::vector<Command> commands;
  std::map<size_t, JobEnd> ends;
};

TEST_F(Jobs, AllRunAndTellTheirOutput) {
  for (int i = 0; i < 7; ++i) add("echo one " + std::to_string(i) + "; echo two");
  for (const unsigned at_once : {1U, 3U, 20U}) {
    EXPECT_TRUE(run(at_once));
    ASSERT_EQ(ends.size(), 7);
    for (const auto& [job, end] : ends)
      EXPECT_EQ(end.output, "one " + std::to_string(job) + "\ntwo\n");
  }
}

TEST_F(Jobs, NoMoreThanWantedAtATime) {
  for (int i = 0; i < 6; ++i) add("touch on-$$; ls | grep -c '^on-'; sleep 0.05; rm on-$$");
  EXPECT_TRUE(run(2));
  for (const auto& [job, end] : ends) EXPECT_LE(std::stoi(end.output), 2);
}

TEST_F(Jobs, OneThatFailsSaysWhyAndKeepsNoneFromRunning) {
  add("echo the reason >&2; exit 3");
  add("kill -9 $$");
  add("echo fine");
  commands.push_back({.name = "none", .argv = {"/no/such/program"}, .log = folder + "/none"});
  EXPECT_TRUE(run(2));
  ASSERT_EQ(ends.size(), 4);
  EXPECT_EQ(ends[0].why, "failed with exit code 3:\nthe reason");
  EXPECT_EQ(ends[1].why, "was ended by signal 9");
  EXPECT_EQ(ends[2].why, "");
  EXPECT_FALSE(ends[3].why.empty());
}

TEST_F(Jobs, AnInterruptEndsAll) {
  add("kill -INT $PPID; sleep 20");
  add("sleep 20");
  EXPECT_FALSE(run(2));
  EXPECT_TRUE(ends.empty());
}

}  // namespace
}  // namespace turnpike::lab
