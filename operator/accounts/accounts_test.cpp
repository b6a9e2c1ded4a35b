// SPDX-License-Identifier: BSD-3-Clause
// Accounts read back, and the fluid model of a fixed-rate shaper.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "operator/accounts/compare.h"
#include "operator/accounts/read.h"
#include "operator/accounts/shaper.h"

namespace turnpike::ops {
namespace {

constexpr double kExact = 1e-6;  // B; rounding of doubles

/// 1000 B/s, at most half a second of waiting, and a bucket of 100 B.
constexpr ShaperSpec kSlow{.rate = 1000, .buffer = 500, .burst = 100};

TEST(Shaper, CarriesDemandBelowItsRateWithoutWaits) {
  Shaper shaper(kSlow);
  for (int s = 0; s < 10; ++s) {
    const Shaped done = shaper.pass(900, 1);
    EXPECT_NEAR(done.carried, 900, kExact);
    EXPECT_EQ(done.dropped, 0);
    EXPECT_EQ(done.limited, 0);
    EXPECT_EQ(done.wait_p99, 0);
  }
  EXPECT_EQ(shaper.waiting(), 0);
}

/// The bucket lasts for 0.1 s, the queue is full after 0.6 s.
TEST(Shaper, CarriesItsRateOfDemandAboveIt) {
  Shaper shaper(kSlow);
  const Shaped first = shaper.pass(2000, 1);
  EXPECT_NEAR(first.carried, 1100, kExact);
  EXPECT_NEAR(first.dropped, 400, kExact);
  EXPECT_NEAR(first.limited, 0.9, kExact);
  EXPECT_NEAR(shaper.waiting(), 500, kExact);
  for (int s = 1; s < 10; ++s) {
    const Shaped done = shaper.pass(2000, 1);
    EXPECT_NEAR(done.carried, 1000, kExact);
    EXPECT_NEAR(done.dropped, 1000, kExact);
    EXPECT_NEAR(done.limited, 1, kExact);
    EXPECT_NEAR(done.wait_p99, 0.5, kExact);
  }
}

/// 500 B leave within half a second, then the bucket fills.
TEST(Shaper, DrainsWhenNothingComes) {
  Shaper shaper(kSlow);
  shaper.pass(5000, 1);
  const Shaped done = shaper.pass(0, 2);
  EXPECT_NEAR(done.carried, 500, kExact);
  EXPECT_NEAR(done.limited, 0.5, kExact);
  EXPECT_EQ(shaper.waiting(), 0);
  EXPECT_NEAR(shaper.pass(100, 0).carried, 100, kExact) << "the bucket is full";
  EXPECT_NEAR(shaper.pass(600, 0).dropped, 100, kExact) << "and now it is empty";
}

/// Of bytes that come evenly to a queue that grows from 0 to 400 B, 1 % wait longer than 396 ms.
TEST(Shaper, KnowsThePercentileOfAGrowingAndOfAShrinkingQueue) {
  Shaper shaper({.rate = 1000, .buffer = 1000, .burst = 0});
  EXPECT_NEAR(shaper.pass(1400, 1).wait_p99, 0.396, kExact);
  EXPECT_NEAR(shaper.pass(600, 1).wait_p99, 0.396, kExact);
  EXPECT_NEAR(shaper.pass(1000, 1).wait_p99, 0, kExact);
}

std::vector<std::pair<double, double>> any_spans() {
  std::vector<std::pair<double, double>> spans;
  const auto numbers = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 5000), rc::gen::inRange(0, 3000)));
  spans.reserve(numbers.size());
  for (const auto& [bytes, ms] : numbers) spans.emplace_back(bytes, 1e-3 * ms);
  return spans;
}

RC_GTEST_PROP(Shaper, CarriesNoMoreThanIsOfferedNorThanItsRate, ()) {
  const ShaperSpec spec{.rate = *rc::gen::inRange(1, 5000) / 1.0,
                        .buffer = *rc::gen::inRange(0, 5000) / 1.0,
                        .burst = *rc::gen::inRange(0, 5000) / 1.0};
  Shaper shaper(spec);
  double offered = 0, carried = 0, dropped = 0, time = 0;
  for (const auto& [bytes, seconds] : any_spans()) {
    const Shaped done = shaper.pass(bytes, seconds);
    offered += bytes, carried += done.carried, dropped += done.dropped, time += seconds;
    RC_ASSERT(done.carried >= 0 && done.dropped >= 0);
    RC_ASSERT(carried <= offered + kExact);
    RC_ASSERT(carried <= spec.burst + spec.rate * time + kExact);
    RC_ASSERT(std::abs(carried + dropped + shaper.waiting() - offered) < kExact);
    RC_ASSERT(shaper.waiting() <= spec.buffer);
    RC_ASSERT(done.limited >= 0 && done.limited <= seconds + kExact);
    RC_ASSERT(done.wait_p99 <= spec.buffer / spec.rate + kExact);
  }
}

/// The model is exact: it does not depend on where a span of even arrivals is cut.
RC_GTEST_PROP(Shaper, GivesTheSameForASpanInParts, ()) {
  const ShaperSpec spec{.rate = 1000,
                        .buffer = *rc::gen::inRange(0, 2000) / 1.0,
                        .burst = *rc::gen::inRange(0, 2000) / 1.0};
  Shaper whole(spec), parts(spec);
  const double cut = *rc::gen::inRange(1, 100) / 100.;
  for (const auto& [bytes, seconds] : any_spans()) {
    const Shaped at_once = whole.pass(bytes, seconds);
    const Shaped first = parts.pass(cut * bytes, cut * seconds),
                 second = parts.pass((1 - cut) * bytes, (1 - cut) * seconds);
    RC_ASSERT(std::abs(at_once.carried - first.carried - second.carried) < kExact);
    RC_ASSERT(std::abs(at_once.dropped - first.dropped - second.dropped) < kExact);
    RC_ASSERT(std::abs(at_once.limited - first.limited - second.limited) < kExact);
  }
}

const std::string kHeading =
    "time,seconds,customer,offered_bytes,carried_bytes,packets,bytes,spend,price_per_mb,"
    "price_p95_per_mb,limited_seconds,ceiling_seconds,wait_p99_ms,dropped,marked,lost\n";

std::string row(const std::string& time, const std::string& customer, double offered,
                double carried) {
  return "2026-11-26T" + time + "Z,1.000000," + customer + "," + std::to_string(offered) + "," +
         std::to_string(carried) + ",10,1000,0.5,500,500,0.25,0.5,20.5,1,2,3\n";
}

struct Parsed {
  std::vector<CustomerLines> accounts;
  std::vector<std::string> mistakes;
};

Parsed parse(const std::string& text) {
  AccountReader reader;
  config::Mistakes mistakes("a.csv");
  reader.parse(text, "a.csv", mistakes);
  Parsed parsed;
  for (const config::Mistake& m : mistakes.sorted()) parsed.mistakes.push_back(m.text());
  parsed.accounts = reader.take();
  return parsed;
}

TEST(AccountReader, ReadsLinesByCustomerAndTime) {
  const Parsed p = parse(kHeading + row("12:00:02.500", "anna", 2000, 1500) +
                         row("12:00:01", "\"b\"\"1, x\"", 7, 7) +
                         row("12:00:01.500", "anna", 1000, 500) + "2026-11-26T12:00:03Z,1,an");
  ASSERT_EQ(p.mistakes, std::vector<std::string>()) << "the last line is being written";
  ASSERT_EQ(p.accounts.size(), 2U);
  EXPECT_EQ(p.accounts[1].name, "b\"1, x");
  const auto& anna = p.accounts[0].lines;
  ASSERT_EQ(anna.size(), 2U);
  EXPECT_EQ(anna[0].offered, 1000);
  EXPECT_EQ(anna[1].carried, 1500);
  EXPECT_DOUBLE_EQ(anna[0].time, 1'795'694'401.5);
  EXPECT_EQ(anna[0].limited, 0.25);
  EXPECT_EQ(anna[0].ceiling, 0.5);
  EXPECT_DOUBLE_EQ(anna[0].wait_p99, 0.0205);
}

TEST(AccountReader, NamesAllMistakesWithTheirPlaces) {
  const Parsed p = parse(kHeading + row("12:00:02", "anna", 1, 1) + row("12:60:02", "anna", 1, 1) +
                         "x\n" + row("12:00:03", "anna", -1, 1) + row("12:00:03", "", 1, 1) +
                         row("12:00:03", "\"anna", 1, 1) + row("12:00:03", "\"anna\"x", 1, 1));
  ASSERT_EQ(p.mistakes.size(), 6U);
  EXPECT_TRUE(p.mistakes[0].starts_with("a.csv:3:1: '2026-11-26T12:60:02Z' is not a time"))
      << p.mistakes[0];
  EXPECT_TRUE(p.mistakes[1].starts_with("a.csv:4:1: 1 fields")) << p.mistakes[1];
  EXPECT_TRUE(p.mistakes[2].starts_with("a.csv:5:36: '-1.000000' is not offered_bytes"))
      << p.mistakes[2];
  EXPECT_TRUE(p.mistakes[3].starts_with("a.csv:6:31: ")) << p.mistakes[3];
  EXPECT_TRUE(p.mistakes[4].starts_with("a.csv:7:31: a quoted field without")) << p.mistakes[4];
  EXPECT_TRUE(p.mistakes[5].starts_with("a.csv:8:37: text behind")) << p.mistakes[5];
}

TEST(AccountReader, RefusesFilesThatAreNoAccounts) {
  EXPECT_EQ(parse("").mistakes, std::vector<std::string>{"a.csv:1:1: the file has no heading"});
  const auto missing = parse("time,customer\n2026-11-26T12:00:00Z,x\n").mistakes;
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_NE(missing[0].find("a.csv:1:1: these are no accounts: no column seconds, offered_bytes"),
            std::string::npos)
      << missing[0];
}

RC_GTEST_PROP(AccountReader, SurvivesAnything, (const std::string& text, bool heading)) {
  for (const std::string& m : parse((heading ? kHeading : "") + text + "\n").mistakes)
    RC_ASSERT(m.starts_with("a.csv:"));
}

RC_GTEST_PROP(AccountReader, SurvivesAnyFields, ()) {
  const auto fields = *rc::gen::container<std::vector<std::string>>(
      16, rc::gen::element<std::string>("", "1", "1e400", "nan", "\"", "\"\"", "-", "anna",
                                        "2026-11-26T12:00:00Z", "2026-02-30T12:00:00Z",
                                        "0000-01-01T00:00:00.5Z", "9999-12-31T23:59:60Z"));
  std::string line;
  for (const std::string& f : fields) line += (line.empty() ? "" : ",") + f;
  parse(kHeading + line + "\n");
}

TEST(WeightedPercentile, IsByWeight) {
  EXPECT_EQ(weighted_percentile({}, 0.5), 0);
  EXPECT_EQ(weighted_percentile({{3, 0}, {1, 1}}, 0.99), 1) << "without weight it is nothing";
  EXPECT_EQ(weighted_percentile({{2, 6}, {1, 94}}, 0.94), 1);
  EXPECT_EQ(weighted_percentile({{2, 6}, {1, 94}}, 0.95), 2);
}

/// 2000 B/s for 2 s, 10 s of nothing, 2 s again: the queue of 500 B has drained in between.
TEST(Compare, SumsLinesAndTheTimeBetweenThem) {
  CustomerLines anna{.name = "anna", .lines = {}};
  for (const double time : {1., 2., 13., 14.})
    anna.lines.push_back({.time = time,
                          .seconds = 1,
                          .offered = 2000,
                          .carried = 1800,
                          .bytes = 2000,
                          .spend = time,
                          .limited = 0.5,
                          .ceiling = 0.25,
                          .wait_p99 = 0.02});
  const Comparison c = compare(anna, kSlow);
  EXPECT_EQ(c.offered, 8000);
  EXPECT_EQ(c.gateway.carried, 7200);
  EXPECT_EQ(c.gateway.limited, 3);
  EXPECT_EQ(c.ceiling, 1);
  EXPECT_EQ(c.gateway.wait_p99, 0.02);
  EXPECT_DOUBLE_EQ(c.price, 30. / 8000);
  EXPECT_DOUBLE_EQ(c.price_p95, 14. / 2000);
  // Each pair: the bucket of 100 B and 2 s at the rate; the first one's queue drains later.
  EXPECT_NEAR(c.shaper.carried, 2 * 2100 + 500, kExact);
  EXPECT_NEAR(c.shaper.limited, 2 * 1.9 + 0.5, kExact);
  EXPECT_NEAR(c.shaper.wait_p99, 0.5, kExact);
}

TEST(Compare, TakesNoTimeFromAClockThatStepsBack) {
  CustomerLines anna{.name = "anna", .lines = {}};
  for (const double time : {10., 10.2, 10.4})
    anna.lines.push_back({.time = time, .seconds = 1, .offered = 900});
  EXPECT_NEAR(compare(anna, kSlow).shaper.carried, 2700, kExact);
}

AccountReport report_of(const std::string& name) {
  AccountReport report{.files = {"a.csv"}, .from = 0, .to = 2, .buffer_s = 0.5, .burst = 100};
  report.accounts.push_back(
      {name, {{.time = 1, .seconds = 1, .offered = 2000, .carried = 2000, .bytes = 2200}}});
  report.customers.push_back(compare(report.accounts[0], kSlow));
  return report;
}

TEST(Report, SaysTheFiguresAndTheLimits) {
  const AccountReport report = report_of("anna");
  const std::string text = report_text(report);
  EXPECT_NE(text.find("anna"), std::string::npos);
  EXPECT_NE(text.find("8 kbps"), std::string::npos) << text;
  EXPECT_NE(text.find("TCP sends less"), std::string::npos);
  const Json json = report_json(report);
  EXPECT_EQ(json["customers"][0]["gateway"]["share_of_demand"], 1);
  EXPECT_EQ(json["customers"][0]["shaper_bps"], 8000);
  EXPECT_EQ(json["total"]["offered_bytes"], 2000);
  EXPECT_EQ(json["total"]["shapers_carried_bytes"], 1100);
  EXPECT_NE(text.find("All 1 customers offered 2 kB: the gateway carried 2 kB (100 %) for 0 $, "
                      "fixed rates would have carried 1.1 kB (55 %)."),
            std::string::npos)
      << text;
  EXPECT_EQ(json["from"], "1970-01-01 00:00:00");
}

TEST(Report, APageHasABoundedNumberOfCustomers) {
  AccountReport report = report_of("anna");
  for (int i = 0; i < 1500; ++i) {
    report.accounts.push_back(report.accounts[0]);
    report.customers.push_back(report.customers[0]);
    report.customers.back().customer = "c" + std::to_string(i);
    report.customers.back().spend = i;
  }
  const std::string page = report_page(report);
  EXPECT_NE(page.find("All 1501 customers"), std::string::npos);
  EXPECT_NE(page.find("<td>c1499</td>"), std::string::npos);
  EXPECT_EQ(page.find("<td>c499</td>"), std::string::npos) << "it is not among the 1000 largest";
  EXPECT_EQ(page.find("<script"), std::string::npos) << "--json has the data";
}

TEST(Report, APageEscapesNamesAndNeedsNoNetwork) {
  const std::string page = report_page(report_of("<script>x</script>"));
  EXPECT_EQ(page.find("<script>x"), std::string::npos);
  EXPECT_NE(page.find("TCP sends less"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
}

}  // namespace
}  // namespace turnpike::ops
