// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/index.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "lab/paper/schemes.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = R"(
paper: Example
experiments:
  - id: one
    figure: 4
    title: First
    short: true
    file: configs/a.yaml
    runs:
      plain: {}
      other: { file: b.yaml, seeds: 1..3, set: ["a.b={c: [1, 2]}", d=2], scheme: xcp }
      counted: { count: rcp }
    metrics:
      used: { summary: links.b.utilization, unit: "%" }
      rates: { run: other, summary: [x.y, x.z], take: min, over: max }
      input: { series: { link: b, column: input, from: 1, to: 2, every: 0.1, take: max } }
      recovery: { settle: { flow: f, column: sent_mbps, after: [2, 3], watch: 1, target: 100, within: 0.05 } }
      harm: { below: { host: h, column: sent_mbps, level: 75 } }
      theory: { value: 38.77 }
      part: { ratio: { of: used, to: theory } }
      swept: { run: all, over: min, summary: x.y, ns2: 3, why: because }
      mice: { completions: { above: 10, most: 20, from: 1, to: 2, take: deviation } }
      slower: { settle: { flow: [f, g], column: sent_mbps, after: 2, target: 100, within: 0.05 } }
      both: { metrics: [used, rates], take: sum }
      fast: { file: bench/results/a.json, at: x.y }
      first: { completions: { first: theory, take: p90 } }
    claims:
      - id: one.c1
        says: Two things are so.
        at: section 2, figure 4
        checks:
          - { metric: used, at_least: 98, paper: 99, model: 97, wider: loosely }
          - { metric: rates, near: [20, 0.03], why: because }
    own:
      - { metric: part, below: used }
    charts:
      - title: Rates
        y: rate (Mbps)
        half: true
        lines:
          - { flow: f, column: sent_mbps, name: f }
          - { by_size: true, run: other }
          - { distribution: true, run: other }
          - { by_time: 2, run: other }
          - { level: 1 }
          - { px: [1, 2], py: [3, 4], dashed: true }
          - { mark_x: theory, mark_y: used }
          - { sweep: swept, x: [10, 20, 30] }
)";

std::string mistakes(const std::string& text) {
  const auto index = parse_index({{"index", text}}, "root");
  std::string all;
  if (!index)
    for (const auto& m : index.error()) all += m.text() + "\n";
  return all;
}

/// The index with one piece of its text replaced by another.
std::string with(const std::string& piece, const std::string& other) {
  std::string text = kIndex;
  const size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), other);
}

TEST(Index, IsReadWhole) {
  const auto index = parse_index({{"index", kIndex}}, "root");
  ASSERT_TRUE(index) << mistakes(kIndex);
  ASSERT_EQ(index->size(), 1);
  const Experiment& e = (*index)[0];
  EXPECT_EQ(e.paper, "Example");
  EXPECT_TRUE(e.is_short);
  EXPECT_EQ(e.runs[0].file, "root/configs/a.yaml");
  EXPECT_EQ(e.runs[1].file, "root/b.yaml");
  EXPECT_EQ(e.runs[1].seeds, (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(e.runs[1].scheme, "xcp");
  EXPECT_EQ(e.runs[1].settings[0].value, "{c: [1, 2]}");
  EXPECT_EQ(e.runs[2].count, "rcp");
  EXPECT_EQ(e.metrics[0].runs, std::vector<std::string>{"plain"}) << "the first unless said";
  EXPECT_EQ(std::get<FromSummary>(e.metrics[1].source).take, Take::kMin);
  EXPECT_EQ(e.metrics[1].over, Over::kMax);
  EXPECT_EQ(std::get<FromSeries>(e.metrics[2].source).series.every, 0.1);
  EXPECT_EQ(std::get<Settle>(e.metrics[3].source).after, (std::vector<double>{2, 3}));
  EXPECT_EQ(std::get<Below>(e.metrics[4].source).series.kind, SeriesSpec::Kind::kHost);
  EXPECT_EQ(std::get<Ratio>(e.metrics[6].source).to, "theory");
  EXPECT_EQ(e.claims[0].id, "one.c1");
  EXPECT_EQ(e.claims[0].says, "Two things are so.");
  EXPECT_EQ(e.claims[0].at, "section 2, figure 4");
  EXPECT_EQ(e.claims[0].checks[0].model, "97");
  EXPECT_EQ(e.claims[0].checks[0].wider, "loosely");
  EXPECT_EQ(e.claims[0].checks[1].kind, CheckSpec::Kind::kNear);
  EXPECT_EQ(e.claims[0].checks[1].b, 0.03);
  EXPECT_EQ(e.own[0].other, "used");
  EXPECT_EQ(e.metrics[7].runs, (std::vector<std::string>{"plain", "other", "counted"}));
  EXPECT_EQ(e.metrics[7].reference->value, 3);
  EXPECT_EQ(std::get<FromCompletions>(e.metrics[8].source).most, 20);
  EXPECT_EQ(std::get<FromCompletions>(e.metrics[8].source).to, 2);
  EXPECT_EQ(std::get<Settle>(e.metrics[9].source).series[1].name, "g");
  EXPECT_EQ(std::get<Combined>(e.metrics[10].source).of[1], "rates");
  EXPECT_EQ(std::get<FromFile>(e.metrics[11].source).file, "root/bench/results/a.json");
  EXPECT_TRUE(e.metrics[11].runs.empty());
  EXPECT_EQ(std::get<FromCompletions>(e.metrics[12].source).first, "theory");
  EXPECT_EQ(std::get<FromCompletions>(e.metrics[12].source).take, Take::kP90);
  EXPECT_EQ(e.charts[0].lines.size(), 8);
}

TEST(Index, MistakesAreToldAtTheirPlace) {
  EXPECT_NE(mistakes(with("short: true", "shrt: true"))
                .find("index:7:5: experiments[0].shrt: unknown key (did you mean 'short'?)"),
            std::string::npos)
      << mistakes(with("short: true", "shrt: true"));
  const std::pair<const char*, const char*> slips[] = {
      {"at_least: 98", "at_leest: 98"},
      {"at_least: 98", "at_least: much"},
      {"at_least: 98", "at_least: 98, at_most: 99"},
      {"near: [20, 0.03]", "near: 20"},
      {"metric: used", "metric: usd"},
      {"run: other, summary", "run: absent, summary"},
      {"take: min", "take: least"},
      {"seeds: 1..3", "seeds: 3..1"},
      {"d=2]", "d]"},
      {"link: b, column: input", "link: b"},
      {"after: [2, 3], ", ""},
      {"ratio: { of: used", "ratio: { of: later"},
      {"{ value: 38.77 }", "{ value: 38.77, summary: a }"},
      {"{ level: 1 }", "{ levl: 1 }"},
      {"scheme: xcp", "scheme: xpc"},
      {"count: rcp", "count: rpc"},
      {"a.json, at: x.y", "a.json"},
      {"x: [10, 20, 30]", "x: [10]"},
      {"link: b, column: input", "link: [b, c], column: input"},
      {"metrics: [used, rates]", "metrics: [used, rats]"},
      {"y: rate (Mbps)", "why: rate (Mbps)"},
      {"paper: Example", "papr: Example"},
      {"id: one.c1", "is: one.c1"},
      {"says: Two", "say: Two"},
      {"at: section", "where: section"},
      {", wider: loosely", ""},
      {"checks:", "check:"},
      {"{ metric: part, below: used }", "{ metric: part, below: used, paper: 3 }"},
  };
  for (const auto& [piece, slip] : slips) EXPECT_NE(mistakes(with(piece, slip)), "") << slip;
}

TEST(Index, IdsAreUnique) {
  EXPECT_NE(
      mistakes(
          "{paper: P, experiments: [{id: a, figure: 1, title: t}, {id: a, figure: 2, title: t}]}")
          .find("another experiment 'a'"),
      std::string::npos);
}

TEST(Index, IdsOfClaimsAreUnique) {
  const auto with_claim = [](const std::string& id) {
    return "{paper: P, experiments: [{id: " + id +
           ", figure: 1, title: t, metrics: {m: {value: 1}}, claims: [{id: c, says: s, at: a, "
           "checks: [{metric: m, at_least: 1}]}]}]}";
  };
  EXPECT_EQ(mistakes(with_claim("a")), "");
  const auto twice = parse_index({{"one", with_claim("a")}, {"two", with_claim("b")}}, "root");
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error()[0].text().find("there is another claim 'c'"), std::string::npos);
}

TEST(Index, FilesComeInTheirOrderAndShareTheIds) {
  const std::string a = "{paper: A, experiments: [{id: a, figure: 1, title: t}]}",
                    b = "{paper: B, experiments: [{id: b, figure: 1, title: t}]}";
  const auto both = parse_index({{"one", b}, {"two", a}}, "root");
  ASSERT_TRUE(both);
  EXPECT_EQ((*both)[0].id, "b");
  EXPECT_EQ((*both)[1].id, "a");
  const auto twice = parse_index({{"one", a}, {"two", a}}, "root");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error()[0].text().find("two:1:"), 0) << twice.error()[0].text();
}

TEST(Index, AFolderIsReadInTheOrderOfNamesWithFcpFirst) {
  const fs::path folder =
      fs::temp_directory_path() / ("turnpike-index-" + std::to_string(getpid()));
  fs::create_directories(folder);
  for (const char* name : {"b", "fcp", "a"})
    std::ofstream(folder / (std::string(name) + ".yaml"))
        << "{paper: P, experiments: [{id: " << name << ", figure: 1, title: t}]}";
  std::ofstream(folder / "notes.txt") << "no index";
  const auto index = read_index(folder.string(), "root");
  fs::remove_all(folder);
  ASSERT_TRUE(index);
  ASSERT_EQ(index->size(), 3);
  EXPECT_EQ((*index)[0].id, "fcp");
  EXPECT_EQ((*index)[1].id, "a");
  EXPECT_FALSE(read_index(folder.string(), "root")) << "it is gone";
}

// Checks the index that we ship, before `turnpike paper` needs it.
TEST(Index, OursIsRight) {
  const std::string root = TURNPIKE_SOURCE_ROOT;
  const auto index = read_index(root + "/lab/paper/experiments", root);
  ASSERT_TRUE(index) << index.error()[0].text();
  EXPECT_TRUE(std::ranges::any_of(*index, &Experiment::is_short));
  for (const Experiment& e : *index) {
    EXPECT_FALSE(e.claims.empty() && e.own.empty()) << e.id;
    EXPECT_FALSE(e.charts.empty()) << e.id;
    for (const MetricSpec& m : e.metrics) {
      const auto* from = std::get_if<FromFile>(&m.source);
      EXPECT_TRUE(from == nullptr || fs::exists(from->file)) << e.id << " " << m.name;
    }
    for (const RunSpec& run : e.runs) {
      const auto settings = settings_of(run);
      ASSERT_TRUE(settings) << e.id << " " << run.name << ": " << settings.error()[0].text();
      const auto loaded = config::load_file(run.file, *settings);
      EXPECT_TRUE(loaded) << e.id << " " << run.name << ": " << loaded.error()[0].text();
    }
  }
}

}  // namespace
}  // namespace turnpike::lab
