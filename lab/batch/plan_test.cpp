// SPDX-License-Identifier: BSD-3-Clause
// Plans: names of results, what is finished, and what interrupted and failed runs leave.
#include "lab/batch/plan.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/report/run_data.h"
#include "lab/batch/content.h"
#include "lab/batch/content_hash.h"
#include "lab/batch/engine.h"
#include "lab/batch/own_build.h"
#include "lab/batch/progress.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;

class PlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = (fs::temp_directory_path() / ("turnpike-plan-" + std::to_string(getpid()))).string();
    fs::create_directories(folder);
    write("sizes.csv", "0.1,1000\n");
    write("net.yaml",
          "run: { duration: 1 s, output: out/one }\n"
          "hosts: { a: { budget: 1 $/s }, b: {} }\n"
          "routers: { r: {} }\n"
          "links: { a-r: { ends: [a, r], rate: 1 Gbps }, r-b: { ends: [r, b], rate: 10 Mbps } }\n"
          "traffic: { workloads: { w: { from: a, to: b, size: { trace: sizes.csv } } } }\n");
  }
  void TearDown() override { fs::remove_all(folder); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name) << text;
  }
  [[nodiscard]] Plan plan() const { return {folder + "/plan", {{"x", 1}}}; }
  [[nodiscard]] Case net(const std::string& rate = "10 Mbps", uint64_t seed = 1) const {
    return {.file = folder + "/net.yaml", .settings = {{"links.r-b.rate", rate}}, .seed = seed};
  }
  /// The name of the result of one run.
  [[nodiscard]] std::string key(const Case& run) const {
    Plan p = plan();
    const auto added = p.add("run", run);
    EXPECT_TRUE(added) << added.error();
    return added ? p.tasks()[0].key : "";
  }
  /// Makes the files of a task's run, without running it.
  static void play(Plan& p, size_t task) {
    const auto command = p.begin(task);
    ASSERT_TRUE(command) << command.error();
    const std::string running = fs::path(command->log).parent_path();
    std::ofstream(running + "/summary.json") << "{}";
  }
  [[nodiscard]] size_t entries(const std::string& part) const {
    const fs::directory_iterator all(folder + "/plan/" + part);
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }

  std::string folder;
};

TEST_F(PlanTest, WorkGrowsWithTheRateAndTheDurationOfARun) {
  const auto work = [&](const std::string& rate, const std::string& duration) {
    Case run = net(rate);
    run.settings.push_back({"links.r-b.law", "fcp"});
    run.settings.push_back({"run.duration", duration});
    const auto content = content_of(run);
    EXPECT_TRUE(content) << content.error();
    return content ? content->work : 0;
  };
  const double small = work("10 Mbps", "1 s");
  EXPECT_GT(small, 0);
  EXPECT_EQ(work("20 Mbps", "1 s"), 2 * small);
  EXPECT_EQ(work("10 Mbps", "3 s"), 3 * small);
}

TEST_F(PlanTest, ResultsAreNamedByAllThatARunReads) {
  const std::string first = key(net());
  EXPECT_EQ(first.size(), 32U);
  EXPECT_EQ(key(net()), first);
  EXPECT_NE(key(net("20 Mbps")), first);
  EXPECT_NE(key(net("10 Mbps", 2)), first);
  write("sizes.csv", "0.1,2000\n");
  EXPECT_NE(key(net()), first);
  write("sizes.csv", "0.1,1000\n");
  EXPECT_EQ(key(net()), first);
  Case counted = net();
  counted.count = "xcp";
  counted.counter = folder + "/net.yaml";
  EXPECT_NE(key(counted), first);
}

TEST_F(PlanTest, AWrongSettingIsNoTask) {
  Plan p = plan();
  Case wrong = net();
  wrong.settings[0].path = "links.r-b.rat";
  const auto added = p.add("wrong", wrong);
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().find("did you mean 'rate'"), std::string::npos) << added.error();
}

TEST_F(PlanTest, IsReadAsItWasWritten) {
  Plan p = plan();
  ASSERT_TRUE(p.add("one", net()));
  ASSERT_TRUE(p.add("two", net("20 Mbps", 7)));
  const auto written = p.write();
  ASSERT_TRUE(written) << written.error();
  const auto again = Plan::read(folder + "/plan");
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(again->purpose(), p.purpose());
  ASSERT_EQ(again->tasks().size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again->tasks()[i].key, p.tasks()[i].key);
    EXPECT_EQ(again->tasks()[i].name, p.tasks()[i].name);
    EXPECT_EQ(again->tasks()[i].run.seed, p.tasks()[i].run.seed);
    EXPECT_EQ(again->tasks()[i].run.settings[0].value, p.tasks()[i].run.settings[0].value);
  }
  auto text = *report::read_text(folder + "/plan/plan.json");
  text.replace(text.find("\"program\": \"") + 12, 4, "none");
  write("plan/plan.json", text);
  const auto other = Plan::read(folder + "/plan");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().find("another build"), std::string::npos) << other.error();
  write("plan/plan.json", "{}");
  EXPECT_FALSE(Plan::read(folder + "/plan"));
  EXPECT_FALSE(Plan::read(folder + "/none"));
}

TEST_F(PlanTest, AResultIsWholeOrAbsent) {
  Plan p = plan();
  ASSERT_TRUE(p.add("one", net()));
  ASSERT_TRUE(p.add("two", net("20 Mbps")));
  ASSERT_TRUE(p.write());
  EXPECT_EQ(p.unfinished(), (std::vector<size_t>{0, 1}));
  play(p, 0);
  EXPECT_FALSE(p.finished(0));
  EXPECT_EQ(p.end(0, ""), "");
  EXPECT_TRUE(p.finished(0));
  EXPECT_EQ(p.unfinished(), std::vector<size_t>{1});
  // Another machine has run it, too.
  play(p, 0);
  EXPECT_EQ(p.end(0, ""), "");
  EXPECT_TRUE(p.finished(0));
  // Of the result only other files are left.
  std::ofstream(p.result(0) + "/rates.csv") << "t\n";
  std::filesystem::remove(p.result(0) + "/summary.json");
  play(p, 0);
  EXPECT_EQ(p.end(0, ""), "");
  EXPECT_TRUE(p.finished(0));

  play(p, 1);
  EXPECT_EQ(p.end(1, "it was too large"), "it was too large");
  EXPECT_FALSE(p.finished(1));
  EXPECT_EQ(p.failure(1), "it was too large\n");
  play(p, 1);
  EXPECT_EQ(p.failure(1), "");
  p.abandon(1);
  EXPECT_EQ(p.failure(1), "");
  EXPECT_EQ(p.unfinished(), std::vector<size_t>{1});
  EXPECT_EQ(entries("results"), 1U);
}

// A process that ends without a word leaves its folder, which the next one removes; that of one
// which runs stays.
TEST_F(PlanTest, WhatAKilledProcessLeavesIsRemoved) {
  {
    Plan p = plan();
    ASSERT_TRUE(p.add("one", net()));
    ASSERT_TRUE(p.write());
    const pid_t child = fork();
    if (child == 0) _exit(p.begin(0) ? 0 : 1);
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(entries("running"), 1U);
    play(p, 0);
    EXPECT_EQ(entries("running"), 1U);
    Plan other = plan();
    ASSERT_TRUE(other.add("one", net()));
    play(other, 0);
    EXPECT_EQ(entries("running"), 2U);
    EXPECT_EQ(p.end(0, ""), "");
    EXPECT_TRUE(p.finished(0));
  }
  EXPECT_EQ(entries("running"), 0U);
}

TEST(OwnBuild, IsInTheProgramsFile) {
  const std::string id = own_build();
  ASSERT_EQ(id.size(), 40U) << id;  // SHA-1
  std::string bytes;
  for (size_t i = 0; i < id.size(); i += 2)
    bytes += static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16));
  EXPECT_NE(report::read_text("/proc/self/exe")->find(bytes), std::string::npos);
}

TEST(ContentHash, DiffersForContentsThatDifferByTheirEnd) {
  EXPECT_EQ(content_hash("").size(), 32U);
  EXPECT_NE(content_hash(""), content_hash(std::string(1, '\0')));
  EXPECT_NE(content_hash("a"), content_hash("b"));
  EXPECT_NE(content_hash("12345678"), content_hash(std::string("12345678\0", 9)));
}

TEST(Engine, IsNamedByAWordAndHosts) {
  EXPECT_EQ(Engine::parse("local")->kind, Engine::Kind::kLocal);
  EXPECT_EQ(Engine::parse("slurm")->kind, Engine::Kind::kSlurm);
  EXPECT_EQ(Engine::parse("ssh:one,2/two")->kind, Engine::Kind::kSsh);
  EXPECT_EQ(Engine::parse("ssh:one,2/two")->hosts, "one,2/two");
  for (const char* wrong : {"", "ssh", "ssh:", "pbs"}) EXPECT_FALSE(Engine::parse(wrong)) << wrong;
}

TEST(Progress, SaysWhatIsLeft) {
  EXPECT_EQ(Progress::text(200, 12, 3, 40), "12 of 200 runs, 3 failed, about 40 s left");
  EXPECT_EQ(Progress::text(200, 12, 0, 600), "12 of 200 runs, about 10 min left");
  EXPECT_EQ(Progress::text(200, 12, 0, 9000), "12 of 200 runs, about 2 h 30 min left");
  EXPECT_EQ(Progress::text(200, 0, 0, NAN), "0 of 200 runs");
  EXPECT_EQ(Progress::text(2, 1, 1, 0), "1 of 2 runs, 1 failed");
}

}  // namespace
}  // namespace turnpike::lab
