// SPDX-License-Identifier: BSD-3-Clause
// Tests the figures of streams with given counts.
#include "sender/results/streams.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace turnpike::sender {
namespace {

config::Topology one_stream() {
  config::Topology t;
  t.hosts = {{.name = "a"}, {.name = "b"}};
  config::Stream s;
  s.name = "load";
  s.to = 1;
  t.streams.push_back(s);
  return t;
}

StreamReading::Sent sent(uint64_t offered, uint64_t packets) {
  return {.offered = offered, .packets = packets, .bytes = 64 * packets, .active = 2_s};
}

nlohmann::json summary_of(const StreamReading& r, const RunEnd& end = {.wall_s = 2.5}) {
  Record record;
  record.streams = {r};
  return {{"streams", streams_json(one_stream(), record, end)}};
}

TEST(StreamResults, BothEnds) {
  StreamReading r;
  r.sent = sent(2'000'000, 2'000'000);
  r.received = StreamReading::Received{
      .packets = 1'900'000, .next = 1'999'999, .reordered = 3, .duplicates = 5};
  const auto s = summary_of(r)["streams"]["load"];
  EXPECT_EQ(s["achieved_pps"], 1e6);
  EXPECT_DOUBLE_EQ(s["achieved_l1_mbps"], 672);
  EXPECT_DOUBLE_EQ(s["achieved_l2_mbps"], 512);
  EXPECT_EQ(s["lost_packets"], 100'000);
  EXPECT_DOUBLE_EQ(s["loss"], 0.05);
  EXPECT_EQ(s["reordered_packets"], 3);
  EXPECT_EQ(s["duplicate_packets"], 5);
  EXPECT_EQ(s["kept_up"], true);
}

TEST(StreamResults, ASenderThatDoesNotKeepUpSaysSo) {
  StreamReading r;
  r.sent = sent(1'000'000, 998'000);
  const auto summary = summary_of(r);
  EXPECT_EQ(summary["streams"]["load"]["kept_up"], false);
  EXPECT_EQ(summary["streams"]["load"]["unsent_packets"], 2000);
  EXPECT_NE(streams_text(summary).find("DID NOT KEEP UP: 2000 of 1000000"), std::string::npos);
  r.sent = sent(1'000'000, 999'500);
  EXPECT_EQ(streams_text(summary_of(r)).find("KEEP UP"), std::string::npos);
}

TEST(StreamResults, LatencyNamesTheClockThatStampedThePackets) {
  StreamReading r;
  r.received = StreamReading::Received{.packets = 90, .next = 100, .latency = {.count = 90}};
  const auto clock = [&](const RunEnd& end) {
    return summary_of(r, end)["streams"]["load"]["stamped_by"];
  };
  EXPECT_EQ(clock({.wall_s = 2.5}), "another sender");
  EXPECT_NE(streams_text(summary_of(r)).find("us, stamped by another sender"), std::string::npos);
  r.sent = sent(100, 100);
  EXPECT_EQ(clock({.wall_s = 2.5}), "this sender");
  EXPECT_EQ(clock({}), "the lab's clock");
}

TEST(StreamResults, AnEndThatWasNotPlayedSaysNothing) {
  StreamReading r;
  r.received = StreamReading::Received{.packets = 90, .next = 100};
  const auto s = summary_of(r)["streams"]["load"];
  EXPECT_FALSE(s.contains("sent_packets"));
  EXPECT_EQ(s["lost_packets"], 10) << "by the numbers that are missing";
  EXPECT_TRUE(summary_of({})["streams"]["load"].empty());
  EXPECT_EQ(streams_text(nlohmann::json::object()), "");
}

}  // namespace
}  // namespace turnpike::sender
