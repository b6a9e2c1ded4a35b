// SPDX-License-Identifier: BSD-3-Clause
// Tests the recorder on synthetic runs with known figures.
#include "sender/results/recorder.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "common/report/csv.h"
#include "common/report/run_data.h"
#include "common/report/run_limits.h"
#include "sender/results/live.h"
#include "sender/results/series.h"
#include "sender/results/summary.h"
#include "sender/results/test_topology.h"

namespace turnpike::sender {
namespace {

using report::number_at;

/// Records the demo's run until `until` with hosts whose rates are the entitled ones times
/// `factor`; rates are 0 until a change has settled.
void play(Recorder& recorder, const config::Topology& t, double factor, Nanos until) {
  std::vector<HostReading> hosts(t.hosts.size());
  std::vector<GroupReading> groups(t.flows.size() + t.workloads.size());
  std::vector<double> bytes(t.hosts.size(), 0);
  const auto steady = steady_intervals(t, {});
  for (Nanos now{0}; now <= until; now += t.run.sample) {
    recorder.sample(now, hosts, groups);
    for (size_t f = 0; f < t.flows.size(); ++f) {
      double rate = 0;
      for (const Phase& p : steady)
        if (p.from <= now && now < p.to) rate = p.flows[f].count();
      HostReading& h = hosts[t.flows[f].from];
      bytes[f] += factor * rate / 8 * to_seconds(t.run.sample);
      h.acked_bytes = h.sent_bytes = h.offered_bytes = static_cast<uint64_t>(bytes[f]);
      h.sent_packets = h.acked_packets = h.acked_bytes / 1500;
      groups[f].acked_bytes = groups[f].sent_bytes = h.acked_bytes;
    }
  }
}

TEST(Recorder, JudgesSharesInSteadyIntervals) {
  const config::Topology t = demo_topology();
  Recorder recorder(t);
  play(recorder, t, 0.98, t.run.duration);
  const auto s = recorder.summary({.now = t.run.duration, .wall_s = 15.2});
  ASSERT_EQ(s["intervals"].size(), 4u);
  EXPECT_NEAR(number_at(s["intervals"][2], {"hosts", "carol", "measured_mbps"}), 49, 0.01);
  EXPECT_NEAR(number_at(s["intervals"][2], {"hosts", "carol", "error"}), -0.02, 1e-4);
  EXPECT_NEAR(number_at(s["intervals"][3], {"links", "bottleneck", "utilization"}), 0.98, 1e-4);
  EXPECT_FALSE(s["intervals"][3]["hosts"].contains("bob"));
  EXPECT_FALSE(s["intervals"][3]["links"]["alice-gate from alice"]["bottleneck"].get<bool>());
  EXPECT_NEAR(number_at(s, {"verdict", "worst_error"}), 0.02, 1e-4);
  EXPECT_TRUE(verdict_good(s));
}

TEST(Recorder, FindsWhatIsWrong) {
  const config::Topology t = demo_topology();
  Recorder low(t);
  play(low, t, 0.94, t.run.duration);
  const auto s = low.summary({.now = t.run.duration});
  EXPECT_FALSE(s["verdict"]["shares_ok"].get<bool>());
  EXPECT_FALSE(s["verdict"]["utilization_ok"].get<bool>());
  EXPECT_FALSE(verdict_good(s));

  Recorder lossy(t);
  play(lossy, t, 1, t.run.duration);
  auto hosts = lossy.record().samples.back().hosts;
  const auto groups = lossy.record().samples.back().groups;
  EXPECT_TRUE(verdict_good(lossy.summary({.now = t.run.duration})));
  hosts[1].lost_packets = 1;
  lossy.sample(t.run.duration, hosts, groups);  // replaces the sample of that instant
  EXPECT_FALSE(verdict_good(lossy.summary({.now = t.run.duration})));
  EXPECT_FALSE(verdict_good(Recorder(t).summary({})));  // a run without samples is not good
  EXPECT_FALSE(verdict_good(nlohmann::json()));
}

TEST(Recorder, ARunCutShortIsJudgedAsFarAsItWent) {
  const config::Topology t = demo_topology();
  Recorder recorder(t);
  play(recorder, t, 1, from_seconds(3.2));
  const auto s = recorder.summary({.now = from_seconds(3.2)});
  ASSERT_EQ(s["intervals"].size(), 2u);
  EXPECT_NEAR(number_at(s["intervals"][1], {"to"}), 3.2, 1e-9);
  EXPECT_TRUE(verdict_good(s));
}

TEST(Recorder, WritesRatesAndBudgets) {
  config::Topology t;
  t.hosts = {{.name = "a"}};
  t.flows = {{.name = "f", .params = {}}};
  Record r;
  for (const int64_t ms : {0, 100}) {
    HostReading host;
    GroupReading group;
    host.sent_packets = 1;
    host.acked_bytes = host.sent_bytes = host.offered_bytes = static_cast<uint64_t>(ms) * 1000;
    host.price = 8e-8;
    host.committed = 1.5;
    group.sent_bytes = group.acked_bytes = host.sent_bytes;
    group.active_flows = 2;
    group.committed = 0.25;
    r.samples.push_back({.now = Nanos(ms * 1000000), .hosts = {host}, .groups = {group}});
  }
  EXPECT_EQ(rates_csv(t, r),
            "t,host,flow,rate_mbps,sent_mbps,offered_mbps,price,budget,rtt_ms,queueing_ms,lost,"
            "flows\n"
            "0.100000,a,,8,8,8,8e-08,1.5,0,0,0,0\n"
            "0.100000,a,f,8,8,,,0.25,,,,2\n");
}

TEST(Recorder, MeasuresWholeSamplingIntervalsOnly) {
  Record r;
  for (const auto& [ms, bytes] :
       {std::pair{0, 0}, {90, 100}, {210, 1000}, {300, 2800}, {420, 9999}}) {
    r.samples.push_back({.now = Nanos(ms * 1000000), .hosts = {HostReading()}, .groups = {}});
    r.samples.back().hosts[0].acked_bytes = static_cast<uint64_t>(bytes);
  }
  const auto m = measure(r, 200_ms, 400_ms);
  ASSERT_TRUE(m);
  EXPECT_NEAR(m->hosts[0].count(), 1800 * 8 / 0.09, 1e-6);
  EXPECT_FALSE(measure(r, 211_ms, 419_ms));
  EXPECT_FALSE(measure({}, 0_ms, 1_s));
}

TEST(Recorder, TellsCompletionTimes) {
  config::Topology t = demo_topology();
  t.workloads.push_back(
      {.name = "mice", .from = {0}, .to = {3}, .params = {}, .arrivals = {}, .size = {}});
  Recorder recorder(t);
  for (uint32_t i = 1; i <= 10; ++i)
    recorder.flow_ended({.id = i,
                         .host = 0,
                         .to = 3,
                         .source = 3,
                         .start = 1_s,
                         .end = 1_s + Nanos(i * 100000000),
                         .bytes = i < 10 ? 500U : 20000U,
                         .packets = i,
                         .completed = true});
  recorder.flow_ended({.id = 11,
                       .host = 1,
                       .to = 3,
                       .source = 1,
                       .start = 2_s,
                       .end = 11_s,
                       .bytes = 1000000,
                       .completed = true});  // an endless flow: has no completion time
  const auto s = recorder.summary({.now = 15_s});
  EXPECT_EQ(number_at(s, {"flows", "count"}), 11);
  EXPECT_EQ(number_at(s, {"flows", "completed"}), 11);
  EXPECT_NEAR(number_at(s, {"flows", "afct_s"}), 0.55, 1e-9);
  EXPECT_NEAR(number_at(s, {"flows", "fct_s", "p50"}), 0.5, 1e-9);
  EXPECT_NEAR(number_at(s, {"flows", "fct_s", "p99"}), 1.0, 1e-9);
  ASSERT_EQ(s["flows"]["by_size"].size(), 2u);
  EXPECT_EQ(number_at(s["flows"]["by_size"][0], {"min_bytes"}), 100);
  EXPECT_EQ(number_at(s["flows"]["by_size"][0], {"count"}), 9);
  EXPECT_EQ(number_at(s["flows"]["by_size"][1], {"max_bytes"}), 100000);
}

TEST(Recorder, AddsUpWhatWasAskedFor) {
  const config::Topology t = demo_topology();
  Recorder recorder(t);
  recorder.flow_ended({.id = 1, .end = 1_s, .completed = true});
  recorder.flow_ended({.id = 2, .end = 1_s});
  auto s = recorder.summary({.now = 15_s});
  EXPECT_FALSE(s["flows"].contains("asked_for")) << "no limits are known yet";
  EXPECT_EQ(report::limits_text(s), "");
  recorder.limits({.started = 1});
  recorder.limits({.started = 1});
  s = recorder.summary({.now = 15_s});
  EXPECT_EQ(number_at(s, {"flows", "asked_for"}), 2);
  EXPECT_EQ(report::limits_text(s), "");
  recorder.limits({.not_started = 3,
                   .delayed = 1,
                   .out_of_records = 4,
                   .out_of_buffers = 5,
                   .refused_packets = 6});
  s = recorder.summary({.now = 15_s});
  EXPECT_EQ(number_at(s, {"flows", "asked_for"}), 5);
  EXPECT_EQ(number_at(s, {"flows", "started"}), 2);
  EXPECT_EQ(number_at(s, {"flows", "not_started"}), 3);
  EXPECT_EQ(number_at(s, {"flows", "completed"}), 1);
  EXPECT_EQ(number_at(s, {"flows", "unfinished"}), 1);
  EXPECT_EQ(number_at(s, {"limits", "out_of_records"}), 4);
  EXPECT_EQ(
      report::limits_text(s),
      "NOT PLAYED AS ASKED: 3 of 5 flows never started, because the flow table was full; 1 of 5 "
      "flows started late, when the flow table had a free entry; packets waited 4 times for a "
      "record of packets in flight; packets waited 5 times for a buffer; receivers refused 6 "
      "packets because their SACK state was full\n");
}

TEST(Recorder, JainKnowsEvenFromUneven) {
  const config::Topology t = demo_topology();
  Recorder even(t), uneven(t);
  for (uint32_t h = 0; h < 3; ++h) {
    FlowOutcome f{.id = h,
                  .host = h,
                  .to = 3,
                  .source = h,
                  .start = 0_s,
                  .end = 10_s,
                  .bytes = h == 2 ? 2000000U : 1000000U};
    even.flow_ended(f);
    f.bytes = h == 0 ? 1000000 : 0;
    uneven.flow_ended(f);
  }
  EXPECT_NEAR(number_at(even.summary({}), {"flows", "jain"}), 1, 1e-12);
  EXPECT_NEAR(number_at(uneven.summary({}), {"flows", "jain"}), 1 / 3., 1e-12);
}

TEST(Recorder, WritesFilesThatTheReportReads) {
  const config::Topology t = demo_topology();
  Recorder recorder(t);
  play(recorder, t, 1, t.run.duration);
  recorder.flow_ended({.id = 2, .host = 1, .to = 3, .source = 1, .start = 2_s, .end = 11_s});
  recorder.flow_ended({.id = 1, .host = 0, .to = 3, .source = 0, .start = 0_s, .end = 15_s});
  recorder.delays(0,
                  {.count = 9,
                   .mean = 20_ms,
                   .p50 = 20_ms,
                   .p90 = 20_ms,
                   .p99 = 21_ms,
                   .p999 = 22_ms,
                   .max = 23_ms},
                  {.count = 9});
  const std::string folder = (std::filesystem::temp_directory_path() /
                              ("turnpike-recorder-" + std::to_string(::getpid())) / "deeper")
                                 .string();
  const auto written =
      recorder.write(folder, {.now = t.run.duration, .wall_s = 15, .facts = {{"a", "b"}}});
  ASSERT_TRUE(written) << written.error();
  const auto run = report::read_run(folder);
  ASSERT_TRUE(run) << run.error();
  EXPECT_EQ(run->summary,
            recorder.summary({.now = t.run.duration, .wall_s = 15, .facts = {{"a", "b"}}}));
  EXPECT_EQ(number_at(run->summary, {"hosts", "alice", "rtt_ms", "p99"}), 21);
  ASSERT_EQ(run->hosts.size(), 3u);  // the server sends nothing
  EXPECT_EQ(run->hosts[0].t.size(), 150u);
  EXPECT_NEAR(run->hosts[0].rate[8], 100, 1e-3);
  const auto flows = report::Csv::parse(report::read_text(folder + "/flows.csv").value());
  ASSERT_EQ(flows.rows(), 2u);
  EXPECT_EQ(flows.text(0, "host"), "alice");
  EXPECT_EQ(flows.text(0, "completion_s"), "");
  EXPECT_TRUE(std::filesystem::exists(folder + "/report.html"));
  EXPECT_FALSE(recorder.write("/proc/nowhere", {}));
  std::filesystem::remove_all(std::filesystem::path(folder).parent_path());
}

TEST(Recorder, FeedsTheLiveView) {
  const config::Topology t = demo_topology();
  Recorder recorder(t);
  EXPECT_TRUE(view_of(t, recorder).hosts.empty());
  play(recorder, t, 1, 6_s);
  const report::LiveView view = view_of(t, recorder);
  EXPECT_EQ(view.t, 6);
  ASSERT_EQ(view.hosts.size(), 3u);
  EXPECT_NEAR(view.hosts[2].rate_mbps, 50, 1e-3);
  EXPECT_NEAR(view.hosts[2].entitled_mbps, 50, 1e-3);
}

}  // namespace
}  // namespace turnpike::sender
