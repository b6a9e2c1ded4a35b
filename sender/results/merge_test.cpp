// SPDX-License-Identifier: BSD-3-Clause
// Records as files, and records of several senders joined into one.
#include "sender/results/merge.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "common/report/run_data.h"
#include "sender/results/summary.h"
#include "sender/results/test_topology.h"

namespace turnpike::sender {
namespace {

class Merge : public ::testing::Test {
 protected:
  Merge() { std::filesystem::create_directories(folder); }
  ~Merge() override { std::filesystem::remove_all(folder); }

  /// Writes the run to a file, and reads it.
  tl::expected<RecordedRun, std::string> as_file(const RecordedRun& run) {
    if (auto done = write_record(run.record, run.end, folder); !done)
      return tl::unexpected(done.error());
    return read_record(*report::read_text(folder + "/record.jsonl"), topology);
  }
  std::string text() { return *report::read_text(folder + "/record.jsonl"); }

  config::Topology topology = demo_topology();
  std::string folder =
      std::filesystem::temp_directory_path() / ("turnpike-merge-" + std::to_string(getpid()));
};

/// Bytes that a host of this rate has sent by then.
uint64_t bytes(double mbps, Nanos now) {
  return static_cast<uint64_t>(mbps * 1e6 / 8 * to_seconds(now));
}

/// The run of some of the hosts at constant rates, in Mbps by host; samples are `late`.
RecordedRun run_of(const config::Topology& t, const std::vector<double>& mbps, Nanos late) {
  RecordedRun run;
  run.record.delays.resize(t.hosts.size());
  run.record.streams.resize(t.streams.size());
  run.end = {.now = t.run.duration, .wall_s = 16, .unix_s = 1000, .facts = {{"DPDK", "one"}}};
  for (Nanos now{0}; now <= t.run.duration; now += t.run.sample) {
    const Nanos at = now == Nanos(0) || now == t.run.duration ? now : now + late;
    Sample s{.now = at,
             .hosts = std::vector<HostReading>(t.hosts.size()),
             .groups = std::vector<GroupReading>(t.flows.size())};
    for (size_t f = 0; f < t.flows.size(); ++f) {
      HostReading& h = s.hosts[t.flows[f].from];
      h.acked_bytes = h.sent_bytes = s.groups[f].acked_bytes = bytes(mbps[f], at);
      h.sent_packets = h.acked_bytes / 1500;
      h.rtt = mbps[f] > 0 ? 20_ms : Nanos(0);
    }
    run.record.samples.push_back(std::move(s));
  }
  for (size_t f = 0; f < t.flows.size(); ++f) {
    if (mbps[f] == 0) continue;
    run.end.lcores.push_back({.hosts = {static_cast<uint32_t>(f)}, .busy = 0.5, .stalled = 1_ms});
    run.record.delays[f].rtt = {.count = 9, .mean = 21_ms, .max = 30_ms};
    run.record.outcomes.push_back({.id = 7,
                                   .host = static_cast<uint32_t>(f),
                                   .to = 3,
                                   .source = static_cast<uint32_t>(f),
                                   .end = t.run.duration,
                                   .bytes = 1500,
                                   .ended = FlowEnd::kReset});
  }
  run.record.limits = LimitsReading{.started = 2, .out_of_records = 1};
  return run;
}

TEST_F(Merge, ReadsWhatItHasWritten) {
  topology.streams.resize(2);
  RecordedRun run = run_of(topology, {25, 0.1, 50}, 3_ms);
  run.record.streams[1].received = StreamReading::Received{.packets = 5, .latency = {.p99 = 1_ms}};
  run.record.streams[1].sent = StreamReading::Sent{.offered = 6, .lag = {.count = 6}};
  const auto read = as_file(run);
  ASSERT_TRUE(read) << read.error();
  const std::string first = text();
  EXPECT_EQ(read->end.lcores.at(1).stalled, 1_ms);
  EXPECT_EQ(read->end.unix_s, 1000);
  EXPECT_EQ(read->record.samples.size(), run.record.samples.size());
  EXPECT_EQ(read->record.samples[9].hosts[2].acked_bytes,
            run.record.samples[9].hosts[2].acked_bytes);
  EXPECT_EQ((*read->record.outcomes.begin()).ended, FlowEnd::kReset);
  EXPECT_EQ(read->record.streams[1].received->latency.p99, 1_ms);
  ASSERT_TRUE(as_file(*read));
  EXPECT_EQ(text(), first);
}

TEST_F(Merge, NamesTheLineThatIsNoRecord) {
  ASSERT_TRUE(as_file(run_of(topology, {25, 25, 50}, 0_ms)));
  const std::string good = text();
  const auto wrong = [&](const std::string& line) {
    const auto read = read_record(good + line, topology);
    return read ? "" : read.error().substr(0, read.error().find(' '));
  };
  const std::string last =
      "record.jsonl:" + std::to_string(std::count(good.begin(), good.end(), '\n') + 1) + ":";
  for (const char* line :
       {"{", "[]", "7", "{}", "{\"sample\":1}", "{\"outcome\":[1,2]}",
        "{\"sample\":1,\"hosts\":[],\"groups\":[]}", "{\"outcome\":[7,99,3,0,0,0,0,0,0,false,0]}",
        "{\"outcome\":[7,0,3,99,0,0,0,0,0,false,0]}", "{\"outcome\":[7,0,3,0,0,0,0,0,0,false,99]}",
        "{\"outcome\":[7,0,3,0,5,4,0,0,0,false,0]}", "{\"delays\":99,\"rtt\":[],\"queueing\":[]}",
        "{\"stream\":0}"})
    EXPECT_EQ(wrong(line), last) << line;
}

TEST_F(Merge, OneSenderGivesItsOwnFigures) {
  const RecordedRun run = run_of(topology, {25, 25, 50}, 0_ms);
  const RecordedRun merged = merge(topology, {&run, 1});
  EXPECT_EQ(run_summary(topology, merged.record, merged.end),
            run_summary(topology, run.record, run.end));
}

// The senders sample at different times; rates are constant.
TEST_F(Merge, JoinsHostsOfSeveralSenders) {
  const std::array runs{run_of(topology, {25, 0, 0}, 17_ms), run_of(topology, {0, 25, 0}, 0_ms),
                        run_of(topology, {0, 0, 50}, 71_ms)};
  const RecordedRun merged = merge(topology, runs);
  const auto one = run_summary(topology, merged.record, merged.end);
  const RecordedRun all = run_of(topology, {25, 25, 50}, 0_ms);
  const auto expected = run_summary(topology, all.record, all.end);
  ASSERT_EQ(one["intervals"].size(), expected["intervals"].size());
  for (size_t i = 0; i < one["intervals"].size(); ++i)
    for (const auto& [name, host] : expected["intervals"][i]["hosts"].items())
      EXPECT_NEAR(report::number_at(one["intervals"][i], {"hosts", name.c_str(), "measured_mbps"}),
                  report::number_at(host, {"measured_mbps"}), 1e-4);
  EXPECT_EQ(one["hosts"], expected["hosts"]);
  EXPECT_EQ(one["packets"], expected["packets"]);
  EXPECT_EQ(one["lcores"].size(), 3U);
  EXPECT_EQ(one["limits"]["out_of_records"], 3);
  EXPECT_EQ(merged.record.outcomes.size(), 3U);
}

// A sender's last sample is at its own end, some ms after the duration.
TEST_F(Merge, EndsWithoutAShortSample) {
  RecordedRun first = run_of(topology, {25, 0, 0}, 0_ms), last = run_of(topology, {0, 25, 0}, 0_ms);
  last.end.now = last.record.samples.back().now = topology.run.duration + 3_ms;
  const std::array runs{std::move(first), std::move(last)};
  const RecordedRun merged = merge(topology, runs);
  const Nanos end = runs[1].end.now;
  ASSERT_EQ(merged.record.samples.size(), runs[0].record.samples.size());
  EXPECT_EQ(merged.record.samples.back().now, end);
  const auto measured = measure(merged.record, end - topology.run.sample - 4_ms, end);
  ASSERT_TRUE(measured);
  EXPECT_NEAR(measured->hosts[0].count(), 25e6, 1e6);
}

// One sender stops early, and one has missed samples.
TEST_F(Merge, LastsAsLongAsTheLongest) {
  RecordedRun late = run_of(topology, {25, 0, 0}, 0_ms), early = run_of(topology, {0, 25, 0}, 0_ms);
  std::erase_if(late.record.samples, [](const Sample& s) { return s.now > 1_s && s.now < 6_s; });
  std::erase_if(early.record.samples, [](const Sample& s) { return s.now > 5_s; });
  early.end.now = 5_s;
  const RecordedRun merged = merge(topology, std::array{std::move(early), std::move(late)});
  EXPECT_EQ(merged.end.now, topology.run.duration);
  const auto measured = measure(merged.record, 2_s, 4_s);
  ASSERT_TRUE(measured);
  EXPECT_NEAR(measured->hosts[0].count(), 25e6, 100);
  EXPECT_NEAR(measured->hosts[1].count(), 25e6, 100);
  EXPECT_EQ(merged.record.samples.back().hosts[1].acked_bytes, bytes(25, 5_s));
}

}  // namespace
}  // namespace turnpike::sender
