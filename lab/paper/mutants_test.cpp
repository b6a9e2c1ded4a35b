// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/mutants.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <unistd.h>

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;

const std::string kRoot = TURNPIKE_SOURCE_ROOT;
const RunSpec kDemo{.name = "demo", .file = kRoot + "/configs/demo.yaml"};

config::Topology topology_with(const RunSpec& run, const std::vector<config::Setting>& settings) {
  auto topology = config::load_file(run.file, settings);
  EXPECT_TRUE(topology) << topology.error()[0].text();
  return *topology;
}

TEST(Mutants, ChangeEveryLinkThatTheyName) {
  const config::Topology right = topology_with(kDemo, {});
  for (size_t i = 0; i < kMutations.size(); ++i) {
    SCOPED_TRACE(kMutations[i]);
    const auto mutation = static_cast<Mutation>(i);
    const auto settings = mutated(kDemo, mutation);
    ASSERT_TRUE(settings) << settings.error()[0].text();
    const config::Topology wrong = topology_with(kDemo, *settings);
    std::set<std::string> narrow;
    if (mutation == Mutation::kAccess) narrow = {"alice-gate", "bob-gate", "carol-gate"};
    if (mutation == Mutation::kSomeAccess) narrow = {"alice-gate", "carol-gate"};
    for (size_t l = 0; l < right.links.size(); ++l)
      for (size_t d = 0; d < 2; ++d) {
        const config::Direction& was = right.links[l].directions[d];
        const config::Direction& is = wrong.links[l].directions[d];
        const bool law = was.law.protocol != "none";
        const int64_t rate = was.rate.count();
        const bool hundredth = narrow.contains(right.links[l].name);
        EXPECT_EQ(is.rate.count(), mutation == Mutation::kRate   ? rate / 2
                                   : mutation == Mutation::kFast ? rate * 10
                                   : hundredth                   ? rate / 100
                                                                 : rate);
        EXPECT_EQ(is.delay.count(), was.delay.count() * (mutation == Mutation::kDelay ? 2 : 1));
        if (mutation == Mutation::kBuffer) {
          EXPECT_EQ(is.buffer.count(), was.buffer.count() / 10);
        }
        EXPECT_EQ(is.law.protocol != was.law.protocol, mutation == Mutation::kScheme && law);
      }
    for (size_t f = 0; f < wrong.flows.size(); ++f)
      EXPECT_EQ(wrong.flows[f].limit == BitRate(10e3),
                mutation == Mutation::kLimit || (mutation == Mutation::kSomeLimit && f % 2 == 0))
          << wrong.flows[f].name;
  }
}

TEST(Mutants, AreMistakesOfTheirOwnWhereTheIndexNamesThem) {
  RunSpec run = kDemo;
  run.settings = {{"links.bottleneck.rate", "10 Mbps"}};
  run.mistake = {{"links.bottleneck.rate", "7 Mbps"}, {"hosts.alice.budget", "5 $/s"}};
  const auto settings = mutated(run, Mutation::kOwn);
  ASSERT_TRUE(settings) << settings.error()[0].text();
  const config::Topology wrong = topology_with(run, *settings);
  EXPECT_EQ(wrong.links[3].directions[0].rate, BitRate(7e6));
  EXPECT_EQ(wrong.hosts[0].budget, Budget(5));
}

TEST(Mutants, CountAnotherLaw) {
  RunSpec run{.name = "cost", .file = kRoot + "/configs/paper/xcp-text-cost.yaml", .count = "xcp"};
  EXPECT_EQ(counted_law(run, Mutation::kRate), "xcp");
  EXPECT_EQ(counted_law(run, Mutation::kOwn), "xcp+made");
  EXPECT_EQ(counted_law(run, Mutation::kScheme), "fcp");
  const auto settings = mutated(run, Mutation::kScheme);
  ASSERT_TRUE(settings) << settings.error()[0].text();
  for (const config::Flow& flow : topology_with(run, *settings).flows)
    EXPECT_EQ(flow.protocol, "fcp");
  EXPECT_EQ(settings->back().path, "run.quantum");
  run.count = "fcp";
  EXPECT_EQ(counted_law(run, Mutation::kScheme), "xcp");
  run.count.clear();
  EXPECT_EQ(counted_law(run, Mutation::kScheme), "");
}

/// An experiment of one run, whose results are files of the test.
class Broken : public ::testing::Test {
 protected:
  void SetUp() override {
    out = (fs::temp_directory_path() / ("turnpike-mutants-" + std::to_string(getpid()))).string();
    write(out, 5);
  }
  void TearDown() override { fs::remove_all(out); }

  void write(const std::string& root, double value) const {
    const std::string folder = run_folder(root, e, e.runs[0], 1);
    fs::create_directories(folder);
    std::ofstream(folder + "/summary.json") << "{\"x\": " << value << "}";
  }
  std::string broken_by() const {
    const Metrics right = metrics_of(e, out);
    Evaluation evaluation = evaluate(e, right);
    break_file_checks(e, right, out, evaluation);
    for (size_t m = 0; m < kMutations.size(); ++m)
      for (size_t run = 0; run < e.runs.size(); ++run)
        break_checks(e, right, out, {run}, static_cast<Mutation>(m), evaluation);
    return evaluation.own[0].broken_by;
  }

  Experiment e{.id = "e",
               .figure = "1",
               .title = "t",
               .runs = {{.name = "r", .file = "f"}},
               .metrics = {{.name = "m", .runs = {"r"}, .source = FromSummary{{"x"}}}},
               .own = {{.metric = "m", .kind = CheckSpec::Kind::kAtLeast, .a = 4}}};
  std::string out;
};

TEST_F(Broken, AMutationThatChangesTheMetricBreaksItsCheck) {
  EXPECT_EQ(broken_by(), "") << "there are no mutated runs: a value that is unknown breaks nothing";
  write(mutants_folder(out, Mutation::kRate), 4.5);
  EXPECT_EQ(broken_by(), "") << "the bound holds";
  write(mutants_folder(out, Mutation::kDelay), 3);
  EXPECT_EQ(broken_by(), "r: twice the delay of all links");
}

TEST_F(Broken, ACheckThatIsNotMetCannotBeBroken) {
  e.own[0].a = 6;
  write(mutants_folder(out, Mutation::kRate), 3);
  EXPECT_EQ(broken_by(), "");
}

TEST_F(Broken, TheMetricThatItIsComparedWithCountsToo) {
  e.runs.push_back({.name = "s", .file = "f"});
  e.metrics.push_back({.name = "n", .runs = {"s"}, .source = FromSummary{{"x"}}});
  e.own[0] = {.metric = "m", .kind = CheckSpec::Kind::kBelow, .other = "n"};
  std::swap(e.runs[0], e.runs[1]);
  write(out, 6);
  write(mutants_folder(out, Mutation::kScheme), 4);
  EXPECT_EQ(broken_by(), "s: another scheme");
}

TEST_F(Broken, MutatesTheRunsOfChecksThatNothingHasBroken) {
  e.runs = {{.name = "r", .file = "f"}, {.name = "s", .file = "f"}, {.name = "t", .file = "f"}};
  e.metrics = {{.name = "m", .runs = {"r", "t"}, .source = FromSummary{{"x"}}},
               {.name = "n", .runs = {"s"}, .source = FromSummary{{"x"}}},
               {.name = "p", .source = Ratio{"m", "n"}}};
  e.own[0] = {.metric = "p", .kind = CheckSpec::Kind::kAtLeast, .a = 4};
  Evaluation evaluation;
  CheckResult& result = evaluation.own.emplace_back();
  result.met = true;
  using Runs = std::set<size_t>;
  EXPECT_EQ(runs_to_mutate(e, Mutation::kOwn, evaluation, {}), Runs{});
  e.runs[1].mistake = {{"run.seed", "2"}};
  EXPECT_EQ(runs_to_mutate(e, Mutation::kOwn, evaluation, {}), Runs{1});
  EXPECT_EQ(runs_to_mutate(e, Mutation::kOwn, evaluation, {3, 2, 1}), Runs{1});
  EXPECT_EQ(runs_to_mutate(e, Mutation::kRate, evaluation, {}), (Runs{0, 1, 2}));
  EXPECT_EQ(runs_to_mutate(e, Mutation::kRate, evaluation, {3, 2, 1}), Runs{2});
  result.broken_by = "something";
  EXPECT_EQ(runs_to_mutate(e, Mutation::kRate, evaluation, {}), Runs{});
  result = {};
  EXPECT_EQ(runs_to_mutate(e, Mutation::kRate, evaluation, {}), Runs{});
}

TEST_F(Broken, SeveralRunsMoveAMedianTogether) {
  e.runs = {{.name = "r", .file = "f"}, {.name = "s", .file = "f"}, {.name = "t", .file = "f"}};
  e.metrics[0].runs = {"r", "s", "t"};
  for (const RunSpec& run : e.runs)
    for (const auto& [root, value] :
         {std::pair(out, 5), {mutants_folder(out, Mutation::kRate), 3}}) {
      const std::string folder = run_folder(root, e, run, 1);
      fs::create_directories(folder);
      std::ofstream(folder + "/summary.json") << "{\"x\": " << value << "}";
    }
  EXPECT_EQ(broken_by(), "") << "one run at a time";
  const Metrics right = metrics_of(e, out);
  Evaluation evaluation = evaluate(e, right);
  break_checks(e, right, out, {0, 1, 2}, Mutation::kRate, evaluation);
  EXPECT_EQ(evaluation.own[0].broken_by, "several runs: half the rate of all links");
}

TEST_F(Broken, FiguresOfFilesAreMultiplied) {
  std::ofstream(out + "/figures.json") << "{\"y\": 1}";
  e.metrics[0] = {.name = "m", .source = FromFile{out + "/figures.json", "y"}};
  e.own[0] = {.metric = "m", .kind = CheckSpec::Kind::kAtMost, .a = 2};
  EXPECT_EQ(broken_by(), "ten times the figures of files");
  e.own[0] = {.metric = "m", .kind = CheckSpec::Kind::kAtLeast, .a = 0.5};
  EXPECT_EQ(broken_by(), "a tenth of the figures of files");
}

}  // namespace
}  // namespace turnpike::lab
