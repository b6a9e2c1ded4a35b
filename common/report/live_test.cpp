// SPDX-License-Identifier: BSD-3-Clause
// The live view: lines from two processes become one table that fits a terminal.
#include "common/report/live.h"

#include <sstream>

#include <gtest/gtest.h>

namespace turnpike::report {
namespace {

constexpr const char* kSender =
    R"({"t":6.3,"hosts":{"alice":{"rate_mbps":25.1,"entitled_mbps":25,"price":3.2e-7,"rtt_ms":20.4,)"
    R"("flows":1,"lost":0},"carol":{"rate_mbps":49.9,"entitled_mbps":50,"flows":1}}})";
constexpr const char* kRouter =
    R"({"t":6.2,"node":"gate","links":{"bottleneck":{"price":3.2e-7,"queue_bytes":12100,)"
    R"("queue_delay_ms":0.97,"utilization":0.998,"tx_mbps":99.8,"drops":0}}})";

LiveView merged() {
  LiveView view;
  EXPECT_TRUE(apply_live_json(kSender, view));
  EXPECT_TRUE(apply_live_json(kRouter, view));
  return view;
}

TEST(LiveView, MergesTheStreams) {
  const LiveView view = merged();
  EXPECT_EQ(view.t, 6.3);  // time of the sender
  ASSERT_EQ(view.hosts.size(), 2u);
  ASSERT_EQ(view.links.size(), 1u);
  EXPECT_EQ(view.links[0].queue_bytes, 12100);
  LiveView again = view;
  EXPECT_TRUE(apply_live_json(R"({"t":6.4,"hosts":{"alice":{"rate_mbps":26}}})", again));
  EXPECT_EQ(again.hosts[0].rate_mbps, 26);
  EXPECT_EQ(again.hosts.size(), 2u);
  EXPECT_EQ(again.links[0].price, 3.2e-7);
}

constexpr const char* kStreams =
    R"({"t":7.1,"streams":{"load":{"offered_pps":2.5e6,"sent_pps":2.4e6,"received_pps":2.3e6,)"
    R"("unsent":1234,"lost":56,"reordered":7}}})";

TEST(LiveView, ShowsStreamsAndWhatTheSenderLeftOut) {
  LiveView view;
  ASSERT_TRUE(apply_live_json(kStreams, view));
  ASSERT_TRUE(apply_live_json(kRouter, view));
  EXPECT_EQ(view.t, 7.1) << "the sender's clock";
  EXPECT_NE(live_line(view).find("  load sent 2.4000 received 2.3000 Mpps lost 56 NOT SENT 1234"),
            std::string::npos);
  EXPECT_NE(live_table(view).find("load             2.5000   2.4000         2.3000        56"
                                  "          7    ! 1234\n"),
            std::string::npos)
      << live_table(view);
  LiveView again;
  ASSERT_TRUE(apply_live_json(live_json(view), again));
  EXPECT_EQ(live_json(again), live_json(view));
  std::istringstream lines(live_table(view));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(LiveView, CallsARoutersLinksByTheirFullName) {
  LiveView view;
  EXPECT_TRUE(apply_live_json(
      kRouter, view, [](const auto& node, const auto& link) { return link + " from " + node; }));
  ASSERT_EQ(view.links.size(), 1u);
  EXPECT_EQ(view.links[0].name, "bottleneck from gate");
}

TEST(LiveView, SurvivesItsOwnRoundTrip) {
  LiveView view;
  ASSERT_TRUE(apply_live_json(live_json(merged()), view));
  EXPECT_EQ(live_json(view), live_json(merged()));
}

TEST(LiveView, RefusesOtherLines) {
  LiveView view = merged();
  const std::string before = live_json(view);
  for (const char* line : {"", "EAL: Detected 2 lcores", "{}", "[1]", R"({"t":"x","hosts":{}})",
                           R"({"t":1,"hosts":7})", R"({"t":1,"hosts":{)"})
    EXPECT_FALSE(apply_live_json(line, view)) << line;
  EXPECT_EQ(live_json(view), before);
  EXPECT_TRUE(
      apply_live_json(R"({"t":1,"hosts":{"alice":7,"bob":{"flows":-1,"lost":1e300}}})", view));
}

TEST(LiveView, TableFitsATerminal) {
  LiveView view = merged();
  view.hosts.push_back({.name = "a host with quite a long name",
                        .rate_mbps = 12345.678,
                        .entitled_mbps = 0,
                        .price = 0,
                        .rtt_ms = 1234.5,
                        .flows = 1,
                        .lost = 12345});
  std::istringstream lines(live_table(view));
  size_t n = 0;
  for (std::string line; std::getline(lines, line); ++n) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_EQ(n, 1u + 2 + 4);
  EXPECT_NE(live_table(merged()).find("########"), std::string::npos);
  EXPECT_NE(live_table(merged()).find('|'), std::string::npos);
}

TEST(LiveView, LineSaysRatesAgainstEntitled) {
  EXPECT_EQ(live_line(merged()),
            "t=6.3s  bottleneck 0.3200 $/MB 12.1 KB 0.97 ms 99.8 %  alice 25.1 of 25.0 Mbps"
            "  carol 49.9 of 50.0 Mbps");
}

TEST(Live, RedrawsATableInPlace) {
  char* buffer = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&buffer, &size);
  Live live(LiveStyle::kTable, out);
  live.show({});  // nothing to show yet
  EXPECT_EQ(size, 0u);
  live.show(merged());
  live.show(merged());
  std::fclose(out);
  const std::string table = live_table(merged());
  EXPECT_EQ(std::string(buffer, size), table + "\x1b[6A\r\x1b[J" + table);
  std::free(buffer);
}

TEST(Live, WritesALineASecond) {
  char* buffer = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&buffer, &size);
  Live live(LiveStyle::kLines, out);
  LiveView view = merged();
  for (const double t : {0.1, 0.2, 0.9, 1.0, 1.1, 1.9, 2.05, 2.5, 5.5, 5.9, 6.0}) {
    view.t = t;
    live.show(view);
  }
  std::fclose(out);
  std::string times;
  std::istringstream lines(std::string(buffer, size));
  for (std::string line; std::getline(lines, line);) times += line.substr(0, line.find(' ')) + " ";
  EXPECT_EQ(times, "t=0.1s t=1.0s t=2.0s t=5.5s t=6.0s ");
  std::free(buffer);
}

}  // namespace
}  // namespace turnpike::report
