// SPDX-License-Identifier: BSD-3-Clause
// From snapshots to results for programs and people.
#include "router/results/record.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/report/csv.h"

namespace turnpike::router {
namespace {

Snapshot snapshot(uint64_t sent_bytes, uint64_t queued) {
  Snapshot s;
  s.received = 10;
  s.originated = 2;
  s.forwarded = 7;
  s.delivered = 1;
  s.held = 1;
  LinkSnapshot priced;
  priced.name = "up, \"link\"";
  priced.rate = 8_Mbps;
  priced.tx_bytes = sent_bytes;
  priced.queued_bytes = queued;
  priced.drops[static_cast<size_t>(DropReason::kQueueFull)] = 2;
  priced.drops[static_cast<size_t>(DropReason::kRunt)] = 1;
  priced.gauges = {{"price", 2e-8}, {"average_rtt_ms", 20}};
  s.drops = priced.drops;
  LinkSnapshot plain;
  plain.name = "down";
  plain.rate = 1_Gbps;
  s.links = {priced, plain};
  return s;
}

TEST(Sampler, FiguresAreOfTheIntervalSinceTheLast) {
  Sampler sampler(1000);
  sampler.take(snapshot(5000, 0), 1_s);
  const Sample s = sampler.take(snapshot(5000 + 50'000, 4000), from_seconds(1.1));
  ASSERT_EQ(s.links.size(), 2U);
  EXPECT_NEAR(s.t, 1.1, 1e-9);
  EXPECT_NEAR(s.unix_s, 1001.1, 1e-9);
  const LinkSample& l = s.links[0];
  EXPECT_NEAR(l.tx_mbps, 4, 1e-9);  // 50 KB in 0.1 s
  EXPECT_NEAR(l.utilization, 0.5, 1e-9);
  EXPECT_NEAR(l.queue_delay_ms, 4, 1e-9);
  EXPECT_EQ(l.price, 2e-8);
  EXPECT_EQ(l.drops, 2U) << "only those on their way out of the link";

  const auto line = nlohmann::json::parse(json_text(s, "gate"));
  EXPECT_EQ(line["node"], "gate");
  EXPECT_EQ(line["links"]["up, \"link\""]["price"], 2e-8);
  EXPECT_EQ(line["links"]["up, \"link\""]["average_rtt_ms"], 20);
  EXPECT_EQ(line["links"]["up, \"link\""]["queue_bytes"], 4000);
  EXPECT_FALSE(line["links"]["down"].contains("average_rtt_ms"));
}

TEST(Record, WritesSeriesAndCounters) {
  const std::string folder = ::testing::TempDir() + "turnpike-record-test/new";
  auto record = Record::open(folder, "gate");
  ASSERT_TRUE(record) << record.error();
  Sampler sampler(1e9);
  record->add(sampler.take(snapshot(0, 0), 1_s));
  record->add(sampler.take(snapshot(100'000, 500), 2_s));
  const std::vector<PortStats> ports(2);
  ASSERT_TRUE(record->finish(snapshot(100'000, 0), ports, 2));

  std::ostringstream text;
  text << std::ifstream(folder + "/links.csv").rdbuf();
  const report::Csv csv = report::Csv::parse(text.str());
  ASSERT_EQ(csv.rows(), 4U);
  EXPECT_EQ(csv.text(2, "link"), "up, \"link\"");
  EXPECT_EQ(csv.number(2, "t"), 2);
  EXPECT_EQ(csv.number(2, "unix_s"), 1e9 + 2);
  EXPECT_EQ(csv.number(2, "price"), 2e-8);
  EXPECT_EQ(csv.number(2, "queue_bytes"), 500);
  EXPECT_NEAR(csv.number(2, "utilization"), 0.1, 1e-9);
  EXPECT_EQ(csv.number(2, "average_rtt_ms"), 20);
  EXPECT_EQ(csv.text(3, "average_rtt_ms"), "");

  const auto json = nlohmann::json::parse(std::ifstream(folder + "/router-gate.json"));
  EXPECT_EQ(json["conserved"], true);
  EXPECT_EQ(json["drops"].size(), kDropReasons);
  EXPECT_EQ(json["drops"]["queue_full"], 2);
  std::filesystem::remove_all(folder);
}

TEST(Record, SaysWhereItCannotWrite) {
  const auto record = Record::open("/proc/nowhere", "gate");
  ASSERT_FALSE(record);
  EXPECT_NE(record.error().find("/proc/nowhere"), std::string::npos);
}

TEST(Counters, TellWorkersApartAndWarnWhereOneHasMost) {
  Snapshot s = snapshot(0, 0);
  s.received_by = {s.received};
  EXPECT_EQ(counters_text(s, "gate").find("by worker"), std::string::npos);
  s.received = 1000;
  s.received_by = {480, 520};
  std::string text = counters_text(s, "gate");
  EXPECT_NE(text.find("by worker: 0: 480 1: 520"), std::string::npos);
  EXPECT_EQ(text.find("uneven"), std::string::npos);
  s.received_by = {50, 950};
  EXPECT_NEAR(s.imbalance(), 1.9, 1e-9);
  EXPECT_NE(counters_text(s, "gate").find("uneven"), std::string::npos);
}

TEST(Counters, NameEveryReasonThatOccurred) {
  const std::string text = counters_text(snapshot(0, 0), "gate");
  EXPECT_NE(text.find("queue_full"), std::string::npos);
  EXPECT_NE(text.find("runt"), std::string::npos);
  EXPECT_EQ(text.find("martian"), std::string::npos);
  EXPECT_EQ(text.find("ADD UP"), std::string::npos);
  Snapshot wrong = snapshot(0, 0);
  ++wrong.received;
  EXPECT_NE(counters_text(wrong, "gate").find("ADD UP"), std::string::npos);
}

}  // namespace
}  // namespace turnpike::router
