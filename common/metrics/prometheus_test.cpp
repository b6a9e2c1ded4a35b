// SPDX-License-Identifier: BSD-3-Clause
#include "common/metrics/prometheus.h"

#include <limits>
#include <memory>

#include <gtest/gtest.h>

namespace turnpike::metrics {
namespace {

TEST(Prometheus, WritesFamiliesOfCountersAndGauges) {
  PrometheusText page;
  page.family(
      {"turnpike_dropped_packets", MetricType::kCounter, "", "Packets that were not forwarded."});
  page.sample({{"link", "bottleneck"}, {"reason", "no_route"}}, uint64_t{18446744073709551615U});
  page.sample({{"link", "bottleneck"}, {"reason", "ttl"}}, uint64_t{0});
  page.family({"turnpike_price", MetricType::kGauge, "", "Price in $/B."});
  page.sample({}, 1e-18);
  page.sample({}, -0.25);
  EXPECT_EQ(page.finish(),
            "# HELP turnpike_dropped_packets_total Packets that were not forwarded.\n"
            "# TYPE turnpike_dropped_packets_total counter\n"
            "turnpike_dropped_packets_total{link=\"bottleneck\",reason=\"no_route\"} "
            "18446744073709551615\n"
            "turnpike_dropped_packets_total{link=\"bottleneck\",reason=\"ttl\"} 0\n"
            "# HELP turnpike_price Price in $/B.\n"
            "# TYPE turnpike_price gauge\n"
            "turnpike_price 1e-18\n"
            "turnpike_price -0.25\n");
}

TEST(Prometheus, EscapesTextAndMendsNames) {
  PrometheusText page;
  page.family({"0 wrong-näme:x", MetricType::kGauge, "", "Says \"a\\b\"\nin two lines"});
  page.sample({{"a:b", "C:\\ \"x\"\n{}"}, {"", ""}}, 1.0);
  EXPECT_EQ(page.finish(),
            "# HELP _0_wrong_n__me:x Says \"a\\\\b\"\\nin two lines\n"
            "# TYPE _0_wrong_n__me:x gauge\n"
            "_0_wrong_n__me:x{a_b=\"C:\\\\ \\\"x\\\"\\n{}\",_=\"\"} 1\n");
}

TEST(Prometheus, WritesWhatIsNotFinite) {
  PrometheusText page;
  page.family({"g", MetricType::kGauge, "", ""});
  page.sample({}, std::numeric_limits<double>::infinity());
  page.sample({}, -std::numeric_limits<double>::infinity());
  page.sample({}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(page.finish(), "# HELP g \n# TYPE g gauge\ng +Inf\ng -Inf\ng NaN\n");
}

TEST(Prometheus, WritesHistogramsCumulatively) {
  const auto h = std::make_unique<Histogram>();
  for (const uint64_t ns : {500'000, 1'500'000, 2'000'000, 80'000'000}) h->record(ns);
  PrometheusText page;
  page.family({"turnpike_rtt_seconds", MetricType::kHistogram, "", "Round trip times."});
  const double bounds[] = {-1, 0.001, 0.01, 1, 1e30};
  page.observations({{"host", "h1"}}, *h, bounds, 1e-9);
  EXPECT_EQ(page.finish(),
            "# HELP turnpike_rtt_seconds Round trip times.\n"
            "# TYPE turnpike_rtt_seconds histogram\n"
            "turnpike_rtt_seconds_bucket{host=\"h1\",le=\"-1.0\"} 0\n"
            "turnpike_rtt_seconds_bucket{host=\"h1\",le=\"0.001\"} 1\n"
            "turnpike_rtt_seconds_bucket{host=\"h1\",le=\"0.01\"} 3\n"
            "turnpike_rtt_seconds_bucket{host=\"h1\",le=\"1.0\"} 4\n"
            "turnpike_rtt_seconds_bucket{host=\"h1\",le=\"1e+30\"} 4\n"
            "turnpike_rtt_seconds_bucket{host=\"h1\",le=\"+Inf\"} 4\n"
            "turnpike_rtt_seconds_sum{host=\"h1\"} 0.084\n"
            "turnpike_rtt_seconds_count{host=\"h1\"} 4\n");
}

TEST(Prometheus, EmptyHistogramIsAllZeros) {
  const auto h = std::make_unique<Histogram>();
  PrometheusText page;
  page.family({"x", MetricType::kHistogram, "", "y"});
  page.observations({}, *h, {}, 1);
  EXPECT_EQ(page.finish(),
            "# HELP x y\n# TYPE x histogram\nx_bucket{le=\"+Inf\"} 0\nx_sum 0\nx_count 0\n");
}

TEST(OpenMetrics, WritesUnitsSuffixesAndTheEnd) {
  PrometheusText page(TextFormat::kOpenMetrics);
  page.family({"turnpike_sent_bytes", MetricType::kCounter, "bytes", "Says \"a\\b\"."});
  page.sample({{"link", "up"}}, uint64_t{7});
  page.family({"turnpike_build", MetricType::kInfo, "", "The build."});
  page.sample({{"version", "1"}}, uint64_t{1});
  EXPECT_EQ(page.finish(),
            "# HELP turnpike_sent_bytes Says \\\"a\\\\b\\\".\n"
            "# TYPE turnpike_sent_bytes counter\n"
            "# UNIT turnpike_sent_bytes bytes\n"
            "turnpike_sent_bytes_total{link=\"up\"} 7\n"
            "# HELP turnpike_build The build.\n"
            "# TYPE turnpike_build info\n"
            "turnpike_build_info{version=\"1\"} 1\n"
            "# EOF\n");
  PrometheusText old;
  old.family({"turnpike_build", MetricType::kInfo, "", "The build."});
  EXPECT_EQ(old.finish(),
            "# HELP turnpike_build_info The build.\n# TYPE turnpike_build_info gauge\n");
}

TEST(Accept, PrefersTheFormatWithTheHigherWeight) {
  const auto open = TextFormat::kOpenMetrics, plain = TextFormat::kPrometheus;
  // As Prometheus 2.42 and 2.53 ask.
  EXPECT_EQ(accepted_format("application/openmetrics-text;version=1.0.0,application/"
                            "openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,"
                            "*/*;q=0.1"),
            open);
  EXPECT_EQ(accepted_format("application/openmetrics-text; version=1.0.0; q=0.5, text/plain"),
            plain);
  EXPECT_EQ(accepted_format("APPLICATION/OpenMetrics-Text ; Q=0.2"), open);
  for (const char* text :
       {"", "*/*", "text/html", ",,;;,", ";q=", "application/openmetrics-text;version=9.0.0",
        "application/openmetrics-text;q=0", "application/openmetrics-text;q=NaN",
        "application/openmetrics-text;q=7", "application/openmetrics-text;q=0.5,text/plain;q=0.5"})
    EXPECT_EQ(accepted_format(text), plain) << text;
}

}  // namespace
}  // namespace turnpike::metrics
