// SPDX-License-Identifier: BSD-3-Clause
// The page of metrics: complete, bounded, and accepted by promtool.
#include "router/telemetry/metrics.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "router/telemetry/families.h"
#include "router/telemetry/largest.h"

namespace turnpike::router {
namespace {

using metrics::Family;
using metrics::MetricType;
using metrics::TextFormat;

/// Seven waits of 3 ms.
const metrics::LogHistogram& waits_of_3_ms() {
  static metrics::LogHistogram waits(16e3);
  if (waits.read().total() == 0) waits.record(3e6, 7);
  return waits;
}

Figures figures(size_t customers = 3) {
  Figures f;
  f.node = "gate";
  f.build = {"0.2.0", "abcdef1", "22.11.3"};
  f.started = 1.7e9;
  f.updated = 1.7e9 + 5;
  LinkSnapshot link;
  link.name = "up \"x\"\\";
  link.rate = 8_Mbps;
  link.tx_bytes = 12;
  link.drops[static_cast<size_t>(DropReason::kQueueFull)] = 2;
  link.gauges = {{"price", 2e-8}, {"average_rtt_ms", 20}};
  f.counters.links = {link};
  f.counters.received_by = {7};
  f.waits.resize(1);
  f.waits[0].record(1'200'000);
  f.ports.push_back({.link = link.name,
                     .device = "net_memif0",
                     .up = true,
                     .stats = {.rx_missed = 3},
                     .extended = {{"rx_xon_packets", 4},
                                  {"rx_xoff_packets", 6},
                                  {"tx_xon_packets", 0},
                                  {"tx_xoff_packets", 1}}});
  f.ports.push_back({.link = "down", .device = "net_virtio", .extended = {{"rx_q0_errors", 2}}});
  LcoreFigures lcore;
  lcore.lcore = 3;
  lcore.busy = 1500_ms;
  lcore.stage_cycles[static_cast<size_t>(Stage::kParse)] = 90;
  lcore.timed_packets = 2;
  f.lcores = {lcore, lcore};
  f.changes.pauses.record(30'000);
  f.changes.unconfirmed = true;
  f.netlink = NetlinkFigures{.messages = 11, .resyncs = {{"overrun", 2}}, .lag = 250_ms};
  f.counters.punt = PuntSnapshot{.punted = {1, 2, 3, 4, 5}, .dropped = {0, 6, 0, 0, 0}};
  for (size_t c = 0; c < customers; ++c)
    f.customers.push_back({.name = "c" + std::to_string(c),
                           .budget = Budget(2),
                           .packets = {c, 1, 0, 0, 0},
                           .bytes = 100 * c});
  for (size_t c = 0; c < customers; ++c)
    f.accounts.push_back({.customer = f.customers[c].name,
                          .offered_bytes = 1500 * c,
                          .packets = c,
                          .bytes = 1000 * c,
                          .spend = 0.25 * static_cast<double>(c),
                          .marked = 2 * c,
                          .lost = 1,
                          .limited = true,
                          .price = 2e-8,
                          .waits = &waits_of_3_ms()});
  f.peers = {{.name = "east", .silent = true}, {.name = "north"}};
  f.gateway = GatewayFigures{.wrong_tags = 12, .unknown_keys = 13};
  f.account_failures = 4;
  f.offenders.push_back(
      {.link = link.name, .source = "10.0.0.1", .owed = 0.5, .offences = 1, .dropped = 9});
  return f;
}

std::vector<std::string> lines_of(const std::string& page) {
  std::vector<std::string> lines;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool has(const std::string& page, const std::string& line) {
  return page.find("\n" + line + "\n") != page.npos;
}

TEST(Families, HaveNamesByPrometheusConventions) {
  std::set<std::string_view> names;
  for (const Family& f : kFamilies) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name << " is there twice";
    EXPECT_TRUE(f.name.starts_with("turnpike_") || f.name.starts_with("process_")) << f.name;
    EXPECT_TRUE(f.unit.empty() || f.name.ends_with("_" + std::string(f.unit))) << f.name;
    EXPECT_FALSE(f.name.ends_with("_total")) << f.name;
    EXPECT_TRUE(f.help.ends_with(".")) << f.name;
  }
}

TEST(MetricsPage, HasEveryFamilyOnceInTheListsOrder) {
  for (const TextFormat format : {TextFormat::kPrometheus, TextFormat::kOpenMetrics}) {
    std::vector<std::string> announced, expected;
    for (const std::string& line : lines_of(metrics_page(figures(), format)))
      if (line.starts_with("# HELP ")) announced.push_back(line.substr(7, line.find(' ', 7) - 7));
    for (const Family& f : kFamilies)
      expected.push_back(format == TextFormat::kOpenMetrics ? std::string(f.name)
                                                            : f.sample_name());
    EXPECT_EQ(announced, expected);
  }
}

TEST(MetricsPage, HasASampleOfEveryFamilyAndNoneTwice) {
  std::set<std::string> series;
  std::map<std::string, int> samples;
  for (const std::string& line : lines_of(metrics_page(figures(), TextFormat::kPrometheus))) {
    if (line.starts_with('#')) continue;
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
    ++samples[line.substr(0, line.find_first_of("{ "))];
  }
  for (const Family& f : kFamilies) {
    const std::string suffix = f.type == MetricType::kHistogram ? "_bucket" : "";
    EXPECT_GT(samples[f.sample_name() + suffix], 0) << f.name;
  }
}

TEST(MetricsPage, ShowsTheFigures) {
  const std::string page = metrics_page(figures(), TextFormat::kOpenMetrics);
  const std::string link = R"({link="up \"x\"\\")";
  EXPECT_TRUE(has(page, "turnpike_link_price_dollars_per_byte" + link + "} 2e-08"));
  EXPECT_TRUE(has(page, "turnpike_link_capacity_bytes_per_second" + link + "} 1e+06"));
  EXPECT_TRUE(
      has(page, "turnpike_link_dropped_packets_total" + link + R"(,reason="queue_full"} 2)"));
  EXPECT_TRUE(has(page, "turnpike_link_law_value" + link + R"(,figure="average_rtt_ms"} 20)"));
  EXPECT_TRUE(
      has(page, "turnpike_link_queueing_delay_seconds_bucket" + link + R"(,le="0.001"} 0)"));
  EXPECT_TRUE(
      has(page, "turnpike_link_queueing_delay_seconds_bucket" + link + R"(,le="0.0025"} 1)"));
  EXPECT_TRUE(has(page, R"(turnpike_lcore_busy_seconds_total{worker="1",lcore="3"} 1.5)"));
  EXPECT_TRUE(
      has(page, R"(turnpike_lcore_timed_cycles_total{worker="0",lcore="3",stage="parse"} 90)"));
  EXPECT_TRUE(has(page, "turnpike_port_up" + link + R"(,device="net_memif0"} 1)"));
  const std::string port = link + R"(,device="net_memif0")";
  EXPECT_TRUE(has(page, "turnpike_port_missed_packets_total" + port + "} 3"));
  EXPECT_TRUE(has(page, "turnpike_port_received_pause_frames_total" + port + "} 10"));
  EXPECT_TRUE(has(page, "turnpike_port_transmitted_pause_frames_total" + port + "} 1"));
  EXPECT_TRUE(
      has(page, "turnpike_port_extended_statistic" + port + R"(,name="rx_xoff_packets"} 6)"));
  EXPECT_TRUE(has(page, R"(turnpike_port_extended_statistic{link="down",device="net_virtio",)"
                        R"(name="rx_q0_errors"} 2)"));
  EXPECT_EQ(page.find(R"(pause_frames_total{link="down")"), page.npos) << "not counted is not 0";
  EXPECT_TRUE(has(page, R"(turnpike_customers_dropped_packets_total{cause="spending"} 3)"));
  EXPECT_TRUE(has(page, R"(turnpike_customer_dropped_packets_total{customer="c2"} 3)"));
  EXPECT_TRUE(has(page, R"(turnpike_configuration_pause_seconds_bucket{le="2.5e-05"} 0)"));
  EXPECT_TRUE(has(page, R"(turnpike_configuration_pause_seconds_bucket{le="5e-05"} 1)"));
  EXPECT_TRUE(has(page, R"(turnpike_tunnel_sent_bytes_total{customer="c2"} 2000)"));
  EXPECT_TRUE(has(page, R"(turnpike_tunnel_spend_dollars_total{customer="c2"} 0.5)"));
  EXPECT_TRUE(has(page, R"(turnpike_tunnel_limited{customer="c2"} 1)"));
  EXPECT_TRUE(has(page, R"(turnpike_tunnel_offered_bytes_total{customer="c2"} 3000)"));
  EXPECT_TRUE(has(page, R"(turnpike_tunnel_marked_packets_total{customer="c2"} 4)"));
  EXPECT_TRUE(has(page, R"(turnpike_tunnel_price_dollars_per_byte{customer="c2"} 2e-08)"));
  EXPECT_TRUE(
      has(page, R"(turnpike_tunnel_queueing_delay_seconds_bucket{customer="c2",le="0.002048"} 0)"));
  EXPECT_TRUE(
      has(page, R"(turnpike_tunnel_queueing_delay_seconds_bucket{customer="c2",le="0.004096"} 7)"));
  EXPECT_TRUE(has(page, R"(turnpike_tunnel_queueing_delay_seconds_sum{customer="c2"} 0.021)"));
  EXPECT_TRUE(has(page, R"(turnpike_gateway_peer_silent{peer="east"} 1)"));
  EXPECT_TRUE(has(page, R"(turnpike_gateway_peer_silent{peer="north"} 0)"));
  EXPECT_TRUE(has(page, "turnpike_tunnel_customers 2")) << "one has sent nothing";
  EXPECT_TRUE(has(page, "turnpike_accounting_failures_total 4"));
  EXPECT_TRUE(has(page, "turnpike_configuration_unconfirmed 1"));
  EXPECT_TRUE(has(page, R"(turnpike_netlink_resynchronisations_total{reason="overrun"} 2)"));
  EXPECT_TRUE(has(page, "turnpike_netlink_lag_seconds 0.25"));
  EXPECT_TRUE(has(page, R"(turnpike_punt_packets_total{class="routing",result="dropped"} 6)"));
  EXPECT_EQ(page.substr(page.size() - 7), "\n# EOF\n");
}

TEST(MetricsPage, NamesABoundedNumberOfCustomers) {
  const auto named = [](size_t customers) {
    size_t n = 0;
    for (const auto& line : lines_of(metrics_page(figures(customers), TextFormat::kPrometheus)))
      n += line.starts_with("turnpike_customer_dropped_packets_total{") ||
           line.starts_with("turnpike_tunnel_spend_dollars_total{");
    return n;
  };
  EXPECT_EQ(named(2), 3U) << "one of the accounts has sent nothing";
  EXPECT_EQ(named(100'000), 2 * kMaxNamed);
  const std::string page = metrics_page(figures(100), TextFormat::kPrometheus);
  EXPECT_TRUE(has(page, R"(turnpike_customer_dropped_packets_total{customer="c99"} 100)"));
  EXPECT_FALSE(has(page, R"(turnpike_customer_dropped_packets_total{customer="c79"} 80)"));
  EXPECT_TRUE(has(page, R"(turnpike_customers_dropped_packets_total{cause="spending"} 4950)"));
  EXPECT_TRUE(has(page, "turnpike_customers_limited 100"));
}

TEST(MetricsPage, PassesPromtool) {
  if (std::system("command -v promtool >/dev/null") != 0)
    GTEST_SKIP() << "no promtool: apt install prometheus";
  std::FILE* check = popen("promtool check metrics 2>&1", "w");
  ASSERT_NE(check, nullptr);
  std::fputs(metrics_page(figures(), TextFormat::kPrometheus).c_str(), check);
  EXPECT_EQ(pclose(check), 0) << "its output is above";
}

std::string table() {
  std::string out = "| family | type | unit | meaning |\n|---|---|---|---|\n";
  for (const Family& f : kFamilies)
    out.append("| `")
        .append(f.sample_name())
        .append("` | ")
        .append(metrics::name_of(f.type))
        .append(" | ")
        .append(f.unit)
        .append(f.unit.empty() ? "| " : " | ")
        .append(f.help)
        .append(" |\n");
  return out;
}

TEST(Families, AreTheTableOfTheDocument) {
  std::ostringstream text;
  text << std::ifstream(TURNPIKE_SOURCE_ROOT "/docs/telemetry.md").rdbuf();
  EXPECT_NE(text.str().find(table()), std::string::npos) << "docs/telemetry.md needs this table:\n"
                                                         << table();
}

}  // namespace
}  // namespace turnpike::router
