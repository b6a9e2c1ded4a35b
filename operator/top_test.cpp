// SPDX-License-Identifier: BSD-3-Clause
// `turnpike top`: rates between two answers, the picture at several sizes, keys.
#include <gtest/gtest.h>

#include "common/metrics/log_histogram.h"
#include "operator/screen.h"
#include "operator/top_text.h"
#include "operator/top_view.h"

namespace turnpike::ops {
namespace {

/// A row of a gateway's customer; its waits are 1 ms up to the first answer, then 8 ms.
Json tunnel(const std::string& name, double spend, double scale, const std::string& state) {
  metrics::LogHistogram waits(16e3);
  waits.record(1e6, 1000);
  if (scale > 1) waits.record(8e6, 10);
  const auto values = waits.read();
  return {{"customer", name},
          {"offered_bytes", 250'000 * scale},
          {"bytes", 125'000 * scale},
          {"spend", spend},
          {"budget", 1},
          {"dropped", 7 * scale},
          {"marked", 3 * scale},
          {"waits", {{"least", values.least}, {"sum", values.sum}, {"weights", values.weights}}},
          {"state", state}};
}

Json answer(double t, double scale, size_t links = 2) {
  Json all{
      {"router", "gate"},
      {"version", "0.2.0"},
      {"t", t},
      {"packets",
       {{"received", 1000 * scale}, {"forwarded", 900 * scale}, {"dropped", 100 * scale}}},
      {"links", Json::array()},
      {"lcores",
       {{{"worker", 0},
         {"lcore", 3},
         {"rx_packets", 1000 * scale},
         {"busy_s", 0.25 * scale},
         {"idle_s", 0.75 * scale},
         {"stalled_s", 0.},
         {"timed_packets", 10 * scale},
         {"timed_cycles", {{"rx", 200 * scale}, {"parse", 300 * scale}}}}}},
      {"customers", {{{"customer", "acme"}, {"budget", 2}, {"dropped", 30 * scale}}}},
      {"tunnel_customers", 2},
      {"tunnels",
       {tunnel("bert", 0.5 * scale, scale, ""), tunnel("anna", 0.9 * scale, scale, "limited")}}};
  for (size_t l = 0; l < links; ++l)
    all["links"].push_back({{"link", "link" + std::to_string(l)},
                            {"rate_bps", 1e6},
                            {"price", 1e-8 * static_cast<double>(l + 1)},
                            {"queue_bytes", 1250},
                            {"buffer_bytes", 5000},
                            {"tx_bytes", 62'500 * scale},
                            {"offered_bytes", 125'000 * scale},
                            {"drops", {{"queue_full", 50 * scale}, {"ttl_expired", 1}}},
                            {"gauges", {{"price", 1e-8}, {"average_rtt_ms", 20.5}}},
                            {"port", {{"device", "net_memif0"}, {"up", l != 1}, {"missed", 0}}}});
  return all;
}

TEST(TopView, HasRatesBetweenTwoAnswers) {
  const TopView v = top_view(answer(10, 1), answer(12, 3));
  EXPECT_EQ(v.interval_s, 2);
  EXPECT_EQ(v.rx_pps, 1000);
  EXPECT_EQ(v.drops_per_s, 100);
  ASSERT_EQ(v.links.size(), 2U);
  EXPECT_EQ(v.links[0].tx_bps, 500'000);
  EXPECT_EQ(v.links[0].utilization, 0.5);
  EXPECT_EQ(v.links[0].delay_s, 0.01);
  EXPECT_EQ(v.links[0].drops_per_s, 50);
  EXPECT_EQ(v.links[0].drops, 151);
  EXPECT_FALSE(v.links[1].up);
  EXPECT_EQ(v.lcores[0].busy, 0.25);
  EXPECT_EQ(v.lcores[0].cycles, 50);
  EXPECT_EQ(v.drops[0].reason, "queue_full");
  EXPECT_EQ(v.drops[0].per_s, 100);
  EXPECT_EQ(v.customers[0].drops_per_s, 30);
  EXPECT_EQ(top_json(v)["lcores"][0]["stages"]["parse"], 30);
  ASSERT_EQ(v.tunnels.size(), 2U);
  const TopTunnels& anna = v.tunnels[0];
  EXPECT_EQ(anna.name, "anna") << "she spends more";
  EXPECT_EQ(anna.offered_bps, 2e6);
  EXPECT_EQ(anna.sent_bps, 1e6);
  EXPECT_DOUBLE_EQ(anna.spend, 0.9);
  EXPECT_DOUBLE_EQ(anna.price, 0.9 / 125'000);
  EXPECT_DOUBLE_EQ(anna.wait_p99_s, 8e-3) << "of the interval alone";
  EXPECT_EQ(anna.drops_per_s, 7);
  EXPECT_EQ(anna.marks_per_s, 3);
  EXPECT_EQ(top_json(v)["tunnels"][0]["state"], "limited");
}

TEST(TopView, CountsFromTheStartWithoutAnEarlierAnswerOrAfterARestart) {
  EXPECT_EQ(top_view(Json(), answer(10, 1)).rx_pps, 100);
  EXPECT_EQ(top_view(answer(100, 50), answer(10, 1)).rx_pps, 100);
}

TEST(TopView, SurvivesAnswersOfAnotherShape) {
  for (const char* text :
       {"null", "[]", "7", "{}", R"({"t":"x","links":[1,null,{"link":7,"drops":[1]}]})",
        R"({"t":1,"links":{"a":1},"lcores":[{"timed_cycles":3}],"customers":"x"})",
        R"({"t":1,"links":[{"port":{"up":"no"},"gauges":{"a":null},"delay_s":{"p50":1}}]})",
        R"({"t":1,"tunnels":[7,{"waits":[1]},{"waits":{"weights":{"a":1}}},{"state":[]}]})",
        R"({"t":1,"tunnels":[{"waits":{"least":0,"sum":"x","weights":[-1,1e300,null,2]}}]})"}) {
    const TopView v = top_view(Json::parse(text), Json::parse(text));
    EXPECT_EQ(top_screen(v, {.selected = "", .tunnels = true, .message = ""}, {}).size(), 24U);
    EXPECT_FALSE(top_once(v, 80).empty());
    EXPECT_EQ(top_screen(v, {.selected = "", .drilled = true, .message = ""}, {}).size(), 24U);
  }
}

TEST(TopScreen, FillsAnySizeExactly) {
  for (const size_t links : {0, 1, 2, 60})
    for (const bool other : {false, true})
      for (const ScreenSize size :
           {ScreenSize{80, 24}, {200, 50}, {40, 8}, {100, 12}, {39, 7}, {1, 1}}) {
        const TopView v = top_view(answer(10, 1, links), answer(12, 3, links));
        for (const bool tunnels : {false, true}) {
          const auto screen = top_screen(
              v, {.selected = "link1", .drilled = other, .tunnels = tunnels, .message = ""}, size);
          ASSERT_EQ(screen.size(), size.height);
          for (const ScreenLine& line : screen)
            EXPECT_LE(line.text.size(), size.width) << line.text;
        }
      }
}

bool shows(const std::vector<ScreenLine>& screen, const std::string& text) {
  return std::ranges::any_of(screen,
                             [&](const ScreenLine& l) { return l.text.find(text) != l.text.npos; });
}

TEST(TopScreen, ShowsAllSectionsAt80By24) {
  const auto screen = top_screen(top_view(answer(10, 1), answer(12, 3)),
                                 {.selected = "link0", .message = ""}, {80, 24});
  for (const char* text : {"turnpike top  gate", "PRICE $/MB", "link1", "500 kbps", "50.0 %",
                           "10.00", "25.0 %", "rx 20 parse 30", "queue_full", "acme", "q quit"})
    EXPECT_TRUE(shows(screen, text)) << text;
}

TEST(TopScreen, ShowsAGatewaysCustomersAlone) {
  const TopView v = top_view(answer(10, 1), answer(12, 3));
  const auto screen = top_screen(v, {.selected = "", .tunnels = true, .message = ""}, {120, 24});
  for (const char* text : {"CUSTOMER", "STATE", "2 Mbps", "1 Mbps", "90.0 %", "7.2000", "8.00",
                           "limited", "2 of 2 customers", "c or esc back"})
    EXPECT_TRUE(shows(screen, text)) << text;
  EXPECT_FALSE(shows(screen, "link0"));
  EXPECT_TRUE(shows(top_screen(v, {.selected = "", .message = ""}, {80, 24}), "limited"));
  Json many = answer(12, 3);
  many["tunnel_customers"] = 100'000;
  for (int i = 0; i < 60; ++i) many["tunnels"].push_back(tunnel("c" + std::to_string(i), i, 3, ""));
  EXPECT_TRUE(shows(top_screen(top_view(Json(), many),
                               {.selected = "", .tunnels = true, .message = ""}, {120, 24}),
                    "62 of 100 k customers"));
  const auto none = top_screen(TopView(), {.selected = "", .tunnels = true, .message = ""}, {});
  EXPECT_TRUE(shows(none, "no customer"));
}

TEST(TopScreen, SaysThatItIsPausedOnTheNarrowestScreen) {
  const auto screen = top_screen(top_view(answer(10, 1), answer(12, 3)),
                                 {.paused = true, .selected = "", .message = ""}, kMinScreen);
  EXPECT_TRUE(shows(screen, "PAUSED"));
}

TEST(TopScreen, KeepsTheSelectedLinkInSight) {
  const TopView v = top_view(answer(10, 1, 60), answer(12, 3, 60));
  const auto screen = top_screen(v, {.selected = "link57", .message = ""}, {80, 24});
  EXPECT_TRUE(shows(screen, "link57"));
  EXPECT_TRUE(shows(screen, " more"));
}

TEST(TopScreen, ShowsALinkAlone) {
  const TopView v = top_view(answer(10, 1), answer(12, 3));
  const auto screen =
      top_screen(v, {.selected = "link1", .drilled = true, .message = ""}, {80, 24});
  EXPECT_TRUE(shows(screen, "LINK link1"));
  EXPECT_TRUE(shows(screen, "average_rtt_ms"));
  EXPECT_TRUE(shows(screen, "ttl_expired"));
  EXPECT_FALSE(shows(screen, "link0"));
}

TEST(Top, SortsLinks) {
  TopView v = top_view(answer(10, 1, 3), answer(12, 3, 3));
  sort_links(v.links, TopOrder::kPrice, false);
  EXPECT_EQ(v.links[0].name, "link2");
  sort_links(v.links, TopOrder::kPrice, true);
  EXPECT_EQ(v.links[0].name, "link0");
  sort_links(v.links, TopOrder::kRate, false);
  EXPECT_EQ(v.links[0].name, "link0") << "ties by name";
}

TEST(Keys, AreReadFromWholeAndPartialSequences) {
  std::string input = "jq\x1b[A\x1bOB\x1b[1;5B\x1b[15~\rx";
  std::vector<Key> keys;
  while (!input.empty()) keys.push_back(take_key(input, false));
  using enum Key;
  EXPECT_EQ(keys, (std::vector<Key>{kDown, kQuit, kUp, kDown, kDown, kNone, kEnter, kNone}));
  input = "\x1b";
  EXPECT_EQ(take_key(input, false), kNone);
  EXPECT_EQ(input, "\x1b");
  EXPECT_EQ(take_key(input, true), kBack);
  EXPECT_EQ(input, "");
  input = "\x1b[";
  EXPECT_EQ(take_key(input, true), kNone);
  EXPECT_EQ(input, "");
}

}  // namespace
}  // namespace turnpike::ops
