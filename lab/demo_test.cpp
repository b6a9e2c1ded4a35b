// SPDX-License-Identifier: BSD-3-Clause
// The demo with shell scripts in place of router and sender: results are merged, checked, passed
// on.
#include "lab/demo.h"

#include <csignal>
#include <filesystem>
#include <optional>

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/report/csv.h"
#include "common/report/run_data.h"
#include "lab/program/disturbance.h"
#include "lab/report.h"
#include "lab/router_folders.h"
#include "lab/verdict.h"
#include "sender/results/test_topology.h"

namespace turnpike::lab {
namespace {

constexpr const char* kGood =
    R"({"scenario":"t","duration_s":2,"links":{"bottleneck":{"law":"fcp","rate_mbps":100}},)"
    R"("intervals":[{"from":0.5,"to":2,"hosts":{"alice":{"measured_mbps":99.2,"entitled_mbps":100,)"
    R"("error":-0.008}},"links":{"bottleneck":{"utilization":0.992,"bottleneck":true}}}],)"
    R"("verdict":{"intervals":1,"worst_error":0.008,"tolerance":0.05,"shares_ok":true,)"
    R"("lowest_utilization":0.992,"utilization_ok":true,"lost_packets":0}})";
constexpr const char* kRouterLine =
    R"({"t":1,"node":"gate","links":{"bottleneck":{"price":8e-8,"queue_bytes":3000},"alice-gate":{}}})";
constexpr const char* kSenderLine =
    R"({"t":0.1,"hosts":{"alice":{"rate_mbps":99.5,"entitled_mbps":100,"flows":1}}})";

class Demo : public ::testing::Test {
 protected:
  Demo() { std::filesystem::create_directories(folder); }
  ~Demo() override {
    std::fclose(out);
    std::free(text);
    std::filesystem::remove_all(folder);
  }

  Command script(const std::string& name, const std::string& commands) const {
    return {.name = name,
            .argv = {"/bin/sh", "-c", "cd " + folder + "\n" + commands},
            .log = folder + "/" + name + ".log"};
  }
  /// Prints a line, then waits for TERM, as a router does.
  Command router(const std::string& at_end = "exit 0") const {
    return script("router", "trap '" + at_end + "' TERM; echo '" + kRouterLine +
                                "'; touch up; while :; do sleep 0.01; done");
  }
  Command sender(const std::string& summary, const std::string& end = "exit 0") const {
    return script("sender", "while ! [ -e up ]; do sleep 0.01; done; echo 'EAL: noise'; echo '" +
                                std::string(kSenderLine) + "'; echo '" + summary +
                                "' > summary.json\n" + end);
  }
  int run(const ProcessSet& processes) {
    std::filesystem::remove(folder + "/up");
    const int code = play(topology, reference, processes, folder, report::LiveStyle::kLines, out);
    std::fflush(out);
    return code;
  }
  [[nodiscard]] std::string said() const { return {text, size}; }

  std::optional<Command> reference;
  const config::Topology topology = turnpike::sender::demo_topology();
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("turnpike-demo-" + std::to_string(::getpid())))
          .string();
  char* text = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
};

TEST_F(Demo, MergesJudgesAndReports) {
  const Command gate = router(
      "echo t,link,price,queue_bytes,drops > links.csv; echo 1,bottleneck,8e-8,3000,0 >> "
      "links.csv; exit 0");
  EXPECT_EQ(run({.routers = {gate}, .sender = sender(kGood)}), kExitOk);
  // One line of the live view that has both: the router's price and the host's rate.
  EXPECT_NE(said().find("t=0.1s  bottleneck 0.0800 $/MB"), std::string::npos) << said();
  EXPECT_NE(said().find("alice 99.5 of 100.0 Mbps"), std::string::npos);
  EXPECT_EQ(said().find("alice-gate"), std::string::npos);  // has no price
  EXPECT_NE(said().find("0.5 to 2.0 s     alice"), std::string::npos);
  EXPECT_NE(said().find("Shares agree with budgets"), std::string::npos);
  EXPECT_NE(said().find(folder + "/report.html"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder + "/report.html"));
  // The router's figures came in, although it wrote them last.
  const auto summary = nlohmann::json::parse(report::read_text(folder + "/summary.json").value());
  EXPECT_EQ(report::number_at(summary, {"links", "bottleneck", "queue_bytes", "max"}), 3000);
  EXPECT_EQ(report::number_at(summary, {"verdict", "dropped_packets"}), 0);
}

std::string with_error(const std::string& error) {
  std::string summary = kGood;
  return summary.replace(summary.find("-0.008"), 6, error);
}

TEST_F(Demo, SharesThatDisagreeFail) {
  EXPECT_EQ(run({.routers = {router()}, .sender = sender(with_error("-0.8"))}), kExitRuntime);
  EXPECT_NE(said().find("NOT as it should be"), std::string::npos);
  EXPECT_NE(said().find("stalled for 0.0 %"), std::string::npos) << said();
}

// The sender writes at 0.1 and 1.9 s; in between a router stood still for 0.6 s of the 1.5 s that
// are checked.
TEST_F(Demo, WhatTheMachineTookIsNoMistakeOfTheCode) {
  const std::string line = R"({"t":1.9,"hosts":{"alice":{"rate_mbps":99.5}}})";
  const Command gate = script(
      "router", "trap 'exit 0' TERM; echo '" + std::string(kRouterLine) +
                    R"('; touch up; sleep 0.2; echo '{"t":1,"node":"gate","stalled_ms":600}'; )" +
                    "touch stalled; while :; do sleep 0.01; done");
  const auto late_sender = [&](const std::string& error) {
    return script("sender",
                  "while ! [ -e up ]; do sleep 0.01; done; echo '" + std::string(kSenderLine) +
                      "'; while ! [ -e stalled ]; do sleep 0.01; done; sleep 0.1; echo '" + line +
                      "'; echo '" + with_error(error) + "' > summary.json");
  };
  EXPECT_EQ(run({.routers = {gate}, .sender = late_sender("-0.40")}), kExitOk) << said();
  EXPECT_NE(said().find("The machine took 30.0 % of the time: programs were stalled for 30.0 %"),
            std::string::npos)
      << said();
  const auto summary = nlohmann::json::parse(report::read_text(folder + "/summary.json").value());
  EXPECT_NEAR(summary["machine"]["most_stalled_s"].get<double>(), 0.6, 1e-9);
  std::filesystem::remove(folder + "/stalled");
  EXPECT_EQ(run({.routers = {gate}, .sender = late_sender("-0.90")}), kExitRuntime);
}

// The router's line about its stall comes after the sender's line that ends the interval.
TEST_F(Demo, AStallThatIsReportedLateCounts) {
  Disturbance disturbance;
  const auto sender = [&](double t) {
    disturbance.hear("sender", R"({"t":)" + std::to_string(t) + R"(,"hosts":{}})", true);
  };
  const auto gate = [&](int stalled_ms) {
    disturbance.hear(
        "gate", R"({"t":1,"node":"gate","stalled_ms":)" + std::to_string(stalled_ms) + "}", false);
  };
  gate(0);
  sender(0.5);
  gate(0);
  sender(1.0);  // the router stands still from 0.9 to 1.3 s
  sender(1.1);
  gate(400);
  sender(1.4);
  gate(400);
  sender(2.0);
  EXPECT_NEAR(disturbance.between(0.5, 1.0).stalled, 0.4, 1e-9);
  EXPECT_NEAR(disturbance.between(1.4, 2.0).stalled, 0, 1e-9);
  EXPECT_NEAR(disturbance.between(0.5, 9.0).stalled, 0.4, 1e-9);
}

TEST_F(Demo, TheVirtualClockDecidesOnTheCode) {
  const auto lab = [&](const std::string& error, const std::string& ok) {
    std::string summary = with_error(error);
    summary.replace(summary.find("\"shares_ok\":true"), 16, "\"shares_ok\":" + ok);
    return script("lab", "mkdir -p lab; echo '" + summary + "' > lab/summary.json");
  };
  reference = lab("-0.0021", "true");
  EXPECT_EQ(run({.routers = {router()}, .sender = sender(kGood)}), kExitOk) << said();
  EXPECT_NE(said().find("-0.21 %"), std::string::npos) << said();
  reference = lab("-0.3", "false");
  EXPECT_EQ(run({.routers = {router()}, .sender = sender(kGood)}), kExitRuntime);
  EXPECT_NE(said().find("NOT as it should be in the lab"), std::string::npos) << said();
  reference = script("lab", "echo no memory >&2; exit 4");
  EXPECT_EQ(run({.routers = {router()}, .sender = sender(kGood)}), 4);
}

TEST_F(Demo, ADropInARouterFails) {
  const Command gate =
      router("echo t,link,drops > links.csv; echo 1,bottleneck,3 >> links.csv; exit 0");
  EXPECT_EQ(run({.routers = {gate}, .sender = sender(kGood)}), kExitRuntime);
  EXPECT_NE(said().find("dropped by routers: 3"), std::string::npos);
}

TEST_F(Demo, AChildsFailureComesOutAsItIs) {
  const Command broken = script("router",
                                "for i in $(seq 30); do echo line $i >&2; done; "
                                "echo 'no hugepages: run x' >&2; exit 4");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run({.routers = {broken}, .sender = script("sender", "exec sleep 60")}),
            kExitHostNotReady);
  const std::string error = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(error.find("router failed with exit code 4"), std::string::npos) << error;
  EXPECT_NE(error.find("line 30\nno hugepages: run x"), std::string::npos);
  EXPECT_EQ(error.find("line 5\n"), std::string::npos);  // only the end of the log

  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run({.routers = {router()}, .sender = sender("", "echo oh >&2; exit 3")}), 3);
  EXPECT_EQ(run({.routers = {router("exit 7")}, .sender = sender(kGood)}), 7);
  EXPECT_EQ(run({.routers = {router()}, .sender = sender("", "kill -SEGV $$")}), kExitRuntime);
  EXPECT_EQ(
      run({.routers = {script("router", "exit 0")}, .sender = script("sender", "exec sleep 60")}),
      kExitRuntime);
  Command missing = router();
  missing.argv[0] = "/nonexistent/turnpike-router";
  EXPECT_EQ(run({.routers = {missing}, .sender = sender(kGood)}), kExitRuntime);
  const std::string errors = ::testing::internal::GetCapturedStderr();
  for (const char* text : {"sender failed with exit code 3", "router failed with exit code 7",
                           "sender was ended by signal 11", "router ended before the sender did",
                           "cannot start /nonexistent"})
    EXPECT_NE(errors.find(text), std::string::npos) << text << "\n" << errors;
}

TEST_F(Demo, OldResultsDoNotPass) {
  ASSERT_TRUE(report::write_text(folder + "/summary.json", kGood));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run({.routers = {router()}, .sender = script("sender", "exit 0")}), kExitRuntime);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("summary.json"), std::string::npos);
}

TEST_F(Demo, AnInterruptEndsTheSenderFirst) {
  // It interrupts its parent, as a user would; its handler then still writes results.
  ASSERT_TRUE(report::write_text(folder + "/good.json", kGood));
  const Command interrupting =
      sender("",
             "trap 'cp good.json summary.json; exit 0' TERM; kill -INT $PPID; "
             "while :; do sleep 0.01; done");
  EXPECT_EQ(run({.routers = {router()}, .sender = interrupting}), kExitOk);
}

TEST_F(Demo, TheSenderStartsWhenRoutersAreUp) {
  const Command slow = script("router",
                              "trap 'exit 0' TERM; sleep 0.1; touch ready; echo up; "
                              "while :; do sleep 0.01; done");
  const Command strict = script("sender", "[ -e ready ] || exit 5");
  const auto ended = supervise({.routers = {slow, slow}, .sender = strict},
                               [](const Command&, const std::string&) {});
  EXPECT_TRUE(ended) << ended.error().text;
}

TEST_F(Demo, ARouterThatDoesNotGoIsKilled) {
  const ProcessSet processes{.routers = {router("true")}, .sender = sender(kGood)};
  const auto ended = supervise(
      processes, [](const Command&, const std::string&) {}, 200);
  ASSERT_FALSE(ended);
  EXPECT_NE(ended.error().text.find("router was ended by signal 9"), std::string::npos);
}

TEST_F(Demo, LinesComeWholeHoweverTheyAreWritten) {
  std::vector<std::string> lines;
  const Command writer =
      script("sender", "printf 'a'; sleep 0.05; printf 'b\\nc\\n\\n'; sleep 0.05; printf 'last'");
  const auto ended = supervise({.routers = {}, .sender = writer},
                               [&](const Command&, const std::string& l) { lines.push_back(l); });
  EXPECT_TRUE(ended);
  EXPECT_EQ(lines, (std::vector<std::string>{"ab", "c", "", "last"}));
}

TEST_F(Demo, SeveralRoutersBecomeOneFile) {
  config::Topology t = topology;
  t.routers.push_back(
      {.name = "far", .lcores = {}, .ipv4_routes = {}, .ipv6_routes = {}, .links = {3}});
  t.links[3].ends[1].node = "far";  // a link between two routers
  EXPECT_EQ(router_folder(topology, topology.routers[0], "out"), "out");
  for (const config::Router& r : t.routers) {
    std::filesystem::create_directories(router_folder(t, r, folder));
    ASSERT_TRUE(report::write_text(router_folder(t, r, folder) + "/links.csv",
                                   "t,link,price\n1,bottleneck,2\n"));
  }
  gather_links(t, folder);
  const auto series = report::link_series(report::read_text(folder + "/links.csv").value());
  ASSERT_EQ(series.size(), 2u);
  EXPECT_EQ(series[0].name, "bottleneck");
  EXPECT_EQ(series[1].name, "bottleneck from far");
}

TEST_F(Demo, FindsProgramsBesideItself) {
  for (const char* name : {"turnpike-router", "../sender/turnpike-sender"}) {
    const auto path = std::filesystem::path(folder) / "lab" / name;
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(report::write_text(path.lexically_normal().string(), ""));
  }
  const std::string self = folder + "/lab/turnpike";
  EXPECT_EQ(find_program(self, "turnpike-router"), folder + "/lab/turnpike-router");
  EXPECT_EQ(find_program(self, "turnpike-sender"), folder + "/sender/turnpike-sender");
  EXPECT_EQ(find_program(self, "turnpike-nothing"), "");
}

TEST(Verdict, WithoutIntervalsSaysSo) {
  EXPECT_NE(verdict_text(nlohmann::json::object()).find("no steady interval"), std::string::npos);
}

}  // namespace
}  // namespace turnpike::lab
