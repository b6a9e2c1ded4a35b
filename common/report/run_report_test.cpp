// SPDX-License-Identifier: BSD-3-Clause
// The page of a run: complete, self-contained, and robust against missing or odd files.
#include "common/report/run_report.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include "common/report/page.h"
#include "common/report/run_charts.h"
#include "tests/support/well_formed.h"

namespace turnpike::report {
namespace {

constexpr const char* kSummary = R"({
  "scenario": "two <hosts>", "seed": 7, "duration_s": 4.0, "wall_s": 4.5, "packets": 33000,
  "links": {"bottleneck": {"law": "fcp", "rate_mbps": 100.0}, "access": {"law": "none"}},
  "hosts": {"alice": {"budget": 1.0, "goodput_mbps": 50.1, "sent_packets": 16000, "spend": 4.0,
    "lost_packets": 0, "retransmitted_packets": 0,
    "rtt_ms": {"count": 100, "mean": 20.5, "p50": 20.2, "p90": 21, "p99": 22, "p999": 23, "max": 24}},
    "server": {"budget": 0.0, "sent_packets": 0}},
  "flows": {"count": 2, "completed": 1, "afct_s": 0.25,
    "by_size": [{"min_bytes": 1000, "max_bytes": 2000, "count": 1, "afct_s": 0.25}]},
  "intervals": [{"from": 0.5, "to": 2.0,
    "hosts": {"alice": {"measured_mbps": 99.0, "entitled_mbps": 100.0, "error": -0.01}},
    "links": {"bottleneck": {"utilization": 0.99, "bottleneck": true}}}],
  "verdict": {"shares_ok": true, "worst_error": 0.01, "tolerance": 0.05, "utilization_ok": true,
    "lowest_utilization": 0.99, "lost_packets": 0, "intervals": 1},
  "facts": {"version": "0.1.0"}})";

constexpr const char* kLinks =
    "t,link,price,queue_bytes,queue_delay_ms,utilization,drops\n"
    "0.1,bottleneck,1e-18,0,0,0,0\n0.2,bottleneck,8e-8,1500,0.12,0.99,0\n"
    "0.3,bottleneck,1.6e-7,4500,0.36,1,2\n0.3,access,0,0,0,0.01,0\n";

constexpr const char* kRates =
    "t,host,flow,rate_mbps,sent_mbps,offered_mbps,price,budget,rtt_ms,queueing_ms,lost,flows\n"
    "0.1,alice,,90,90,90,8e-8,1,20.1,0.1,0,1\n0.1,alice,a1,90,90,,,1,,,,1\n"
    "0.1,server,,0,0,0,0,0,0,0,0,0\n"
    "0.2,alice,,99,99,99,8e-8,1,20.3,0.3,0,1\n";

RunData sample_run() {
  RunData run;
  run.summary = nlohmann::json::parse(kSummary);
  run.links = link_series(kLinks);
  return run;
}

class Folder : public ::testing::Test {
 protected:
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() override { std::filesystem::remove_all(path); }
  std::string path =
      (std::filesystem::temp_directory_path() / ("turnpike-report-" + std::to_string(::getpid())))
          .string();
};

std::string page_error(const std::string& html) {
  return xml_error(std::string_view(html).substr(html.find('\n') + 1));
}

TEST_F(Folder, IsRenderedIntoOneSelfContainedPage) {
  ASSERT_TRUE(write_text(path + "/summary.json", kSummary));
  ASSERT_TRUE(write_text(path + "/rates.csv", kRates));
  ASSERT_TRUE(write_text(path + "/links.csv", kLinks));
  const auto page = render_run_report(path);
  ASSERT_TRUE(page) << page.error();
  const std::string html = read_text(*page).value();
  EXPECT_EQ(page_error(html), "");
  for (const char* external : {"src=", "href=", "@import", "url("})
    EXPECT_EQ(html.find(external), std::string::npos) << external;
  for (const char* shown : {"two &lt;hosts&gt;", "99.00", "-1.00\u00a0%", "0.1.0", "<svg"})
    EXPECT_NE(html.find(shown), std::string::npos) << shown;
  const auto begin = html.find("id=\"summary\">") + 13;
  const auto data = html.substr(begin, html.find("</script>", begin) - begin);
  EXPECT_EQ(nlohmann::json::parse(data), nlohmann::json::parse(kSummary));
}

TEST_F(Folder, IsTheSamePageReadOnSeveralThreads) {
  ASSERT_TRUE(write_text(path + "/summary.json", kSummary));
  ASSERT_TRUE(write_text(path + "/rates.csv", kRates));
  ASSERT_TRUE(write_text(path + "/links.csv", kLinks));
  const std::string one = run_page(*read_run(path));
  for (const unsigned count : {2U, 8U})
    EXPECT_EQ(run_page(*read_run(path, Threads(count))), one) << count << " threads";
}

TEST_F(Folder, MayLackItsSeries) {
  EXPECT_FALSE(render_run_report(path));
  ASSERT_TRUE(write_text(path + "/summary.json", "[1, 2"));
  EXPECT_FALSE(render_run_report(path));
  ASSERT_TRUE(write_text(path + "/summary.json", "{}"));
  const auto page = render_run_report(path);
  ASSERT_TRUE(page) << page.error();
  EXPECT_EQ(page_error(read_text(*page).value()), "");
}

nlohmann::json with_stream(bool kept_up) {
  return {
      {"streams",
       {{"<load>",
         {{"offered_packets", 1'000'000},
          {"sent_packets", 998'000},
          {"unsent_packets", 2000},
          {"offered_pps", 1e6},
          {"achieved_pps", 998'000},
          {"kept_up", kept_up},
          {"no_room", 7},
          {"no_buffer", 3},
          {"received_packets", 900'000},
          {"lost_packets", 98'000},
          {"loss", 0.0982},
          {"reordered_packets", 5},
          {"stamped_by", "this sender"},
          {"latency_us", {{"count", 900'000}, {"p50", 11.5}, {"p99", 22.5}, {"max", 33.5}}}}}}}};
}

TEST(RunReport, ShowsStreamsAndLoudlyThoseThatDidNotKeepUp) {
  const std::string behind = run_page({.summary = with_stream(false), .hosts = {}, .links = {}});
  EXPECT_EQ(page_error(behind), "");
  for (const char* shown : {"&lt;load&gt;", "0.998", "98\u202f000", "9.82\u00a0%", ">5<", "11.5",
                            "22.5", "33.5", "this sender"})
    EXPECT_NE(behind.find(shown), std::string::npos) << shown;
  EXPECT_NE(behind.find("THE SENDER DID NOT KEEP UP: 2000 of 1000000 packets"), std::string::npos);
  EXPECT_NE(behind.find("the transmit queue was full 7 times, mbufs ran out 3 times"),
            std::string::npos);
  EXPECT_NE(behind.find("class=\"n bad\">NO<"), std::string::npos);
  for (const char* absent : {"Shares", "steady interval"})
    EXPECT_EQ(behind.find(absent), std::string::npos) << "no flow was to have any: " << absent;
  const std::string in_time = run_page({.summary = with_stream(true), .hosts = {}, .links = {}});
  EXPECT_EQ(in_time.find("KEEP UP"), std::string::npos);
  EXPECT_EQ(in_time.find("class=\"n bad\""), std::string::npos);
  EXPECT_NE(in_time.find("class=\"n good\">yes<"), std::string::npos);
}

TEST(RunData, SummarisesLinks) {
  const RunData run = sample_run();
  ASSERT_EQ(run.links.size(), 2u);
  const auto s = summarise(run.links[0]);
  EXPECT_NEAR(number_at(s, {"utilization"}), 1.99 / 3, 1e-12);
  EXPECT_EQ(number_at(s, {"queue_bytes", "max"}), 4500);
  EXPECT_EQ(number_at(s, {"queue_delay_ms", "p50"}), 0.12);
  EXPECT_EQ(number_at(s, {"queue_delay_ms", "p99"}), 0.36);
  EXPECT_NEAR(number_at(s, {"price", "mean"}), 0.8e-7, 1e-20);  // MIN counts as zero
  EXPECT_EQ(number_at(s, {"price", "last"}), 1.6e-7);
  EXPECT_EQ(number_at(s, {"dropped_packets"}), 2);
  EXPECT_TRUE(summarise({}).empty());
}

TEST(RunData, JoinsLinksAndVerdict) {
  RunData run = sample_run();
  add_links(run);
  EXPECT_EQ(number_at(run.summary, {"links", "bottleneck", "queue_bytes", "max"}), 4500);
  EXPECT_EQ(number_at(run.summary, {"links", "bottleneck", "rate_mbps"}), 100);  // not replaced
  EXPECT_EQ(number_at(run.summary, {"verdict", "dropped_packets"}), 2);
  const auto once = run.summary;
  add_links(run);
  EXPECT_EQ(run.summary, once);
}

TEST(RunData, MovesARoutersTimesToTheRunsClock) {
  const char* text = "t,unix_s,link,price\n1,100.5,l,1\n2,101.5,l,2\n3,102.5,l,3\n";
  const auto moved = link_series(text, {.unix_s = 101});
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0].t, (std::vector<double>{0.5, 1.5}));
  EXPECT_EQ(moved[0].price, (std::vector<double>{2, 3}));
  EXPECT_EQ(link_series(text, {.unix_s = 101, .duration_s = 1})[0].t, (std::vector<double>{0.5}));
  EXPECT_EQ(link_series(text)[0].t, (std::vector<double>{1, 2, 3}));
}

TEST(RunCharts, PriceSpansDecadesOnALogAxisOnly) {
  RunData run = sample_run();
  EXPECT_FALSE(price_chart(run).y.log);
  ASSERT_EQ(price_chart(run).series.size(), 1u);  // the access link has no law
  run.links[0].price = {1e-18, 1e-9, 1e-6};
  EXPECT_TRUE(price_chart(run).y.log);
}

TEST(RunCharts, EntitledLevelsFollowTheIntervals) {
  RunData run = sample_run();
  run.hosts.push_back({.name = "alice", .t = {1, 2}, .rate = {99, 98}});
  run.hosts.push_back({.name = "server", .t = {1, 2}, .rate = {0, 0}});
  const Chart c = rate_chart(run);
  ASSERT_EQ(c.series.size(), 3u);  // alice, the legend's "entitled", alice's levels
  EXPECT_TRUE(c.series[2].reference);
  EXPECT_EQ(c.series[2].colour, c.series[1].colour);
  EXPECT_EQ(c.series[2].y[0], 100);
  ASSERT_EQ(c.bands.size(), 1u);
  EXPECT_EQ(c.bands[0].to, 2.0);
}

/// Replaces parts of a summary by values of other types: the page must still be complete.
RC_GTEST_PROP(RunReport, OddSummariesStillMakeAPage, (uint32_t seed)) {
  RunData run = sample_run();
  run.summary.update(with_stream(false));
  const nlohmann::json flat = run.summary.flatten();
  uint32_t n = seed;
  nlohmann::json odd = run.summary;
  for (int change = 0; change < 3; ++change, n = n * 1664525u + 1013904223u) {
    auto it = flat.begin();
    std::advance(it, n % flat.size());
    auto at = nlohmann::json::json_pointer(it.key());
    if (n & 1024) at = at.parent_pointer();
    const nlohmann::json values[] = {nullptr,
                                     "text</script>",
                                     -1,
                                     nlohmann::json::array({1}),
                                     true,
                                     1e300,
                                     nlohmann::json::object({{"a", 1}})};
    if (odd.contains(at)) odd[at] = values[(n >> 12) % std::size(values)];
  }
  if (!odd.is_object()) RC_DISCARD("read_run refuses these");
  run.summary = odd;
  RC_ASSERT(page_error(run_page(run)) == "");
}

}  // namespace
}  // namespace turnpike::report
