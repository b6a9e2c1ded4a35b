// SPDX-License-Identifier: BSD-3-Clause
// Tests the distributions of arrivals and sizes, and that draws are repeatable.
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "sender/workload/traffic_schedule.h"

namespace turnpike::sender {
namespace {

config::Workload load(config::Arrivals arrivals, config::SizeDistribution size) {
  config::Workload w;
  w.name = "load";
  w.from = {0, 1, 2};
  w.to = {3};
  w.arrivals = arrivals;
  w.size = std::move(size);
  return w;
}

std::vector<Arrival> take(const config::Workload& w, size_t n, uint64_t seed = 1) {
  auto stream = Stream::make(w, seed, 0);
  EXPECT_TRUE(stream) << stream.error();
  std::vector<Arrival> all;
  while (all.size() < n) {
    const auto a = stream->next();
    if (!a) break;
    EXPECT_TRUE(all.empty() || a->at >= all.back().at);
    all.push_back(*a);
  }
  return all;
}

double mean_size(const std::vector<Arrival>& all) {
  double sum = 0;
  for (const Arrival& a : all) sum += static_cast<double>(a.bytes);
  return sum / static_cast<double>(all.size());
}

TEST(Random, DrawsAreFixedForAllTime) {
  // Golden values: a change here changes the results of every seeded run.
  Random r(1, 0);
  EXPECT_DOUBLE_EQ(r.uniform(), 0.2006012051083334);
  EXPECT_EQ(r.below(1000), 389U);
}

TEST(Random, UniformIsOpenAndEven) {
  Random r(3, 4);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = r.uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    ASSERT_LT(r.below(7), 7U);
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(Stream, PoissonGapsAreExponential) {
  const auto all = take(load(config::PoissonArrivals{1000}, config::FixedSize{Bytes(1)}), 100'001);
  std::vector<double> gaps;
  for (size_t i = 1; i < all.size(); ++i) gaps.push_back(to_seconds(all[i].at - all[i - 1].at));
  std::ranges::sort(gaps);
  // Kolmogorov and Smirnov: for 1e5 draws the distance exceeds 0.0062 once in a thousand.
  double distance = 0;
  for (size_t i = 0; i < gaps.size(); ++i) {
    const double f = 1 - std::exp(-1000 * gaps[i]);
    distance = std::max(distance, std::abs(f - static_cast<double>(i) / 1e5));
  }
  EXPECT_LT(distance, 0.0062);
}

TEST(Stream, UniformGapsFillTheirRangeEvenly) {
  const auto all =
      take(load(config::UniformArrivals{10_us, 100_us}, config::FixedSize{Bytes(1)}), 90'001);
  std::array<int, 9> tenths{};  // of 10 us each
  for (size_t i = 1; i < all.size(); ++i) {
    const Nanos gap = all[i].at - all[i - 1].at;
    ASSERT_GE(gap, 10_us - 1_ns);
    ASSERT_LE(gap, 100_us + 1_ns);
    ++tenths[static_cast<size_t>(std::clamp<int64_t>(gap.count() / 10'000 - 1, 0, 8))];
  }
  for (const int n : tenths) EXPECT_NEAR(n, 10'000, 500) << "five standard deviations";
}

TEST(Stream, PeriodsDoNotDrift) {
  config::Workload w = load(config::PeriodicArrivals{3}, config::FixedSize{Bytes(1)});
  w.start = 5_s;
  const auto all = take(w, 3'000'001);
  EXPECT_EQ(all[0].at, 5_s);
  EXPECT_EQ(all[3'000'000].at, 1'000'005_s);
}

TEST(Stream, SizesHaveTheirMeans) {
  const auto fixed = take(load(config::PoissonArrivals{1}, config::FixedSize{Bytes(777)}), 100);
  for (const Arrival& a : fixed) EXPECT_EQ(a.bytes, 777U);
  const auto exponential =
      take(load(config::PoissonArrivals{1}, config::ExponentialSize{Bytes(30'000)}), 200'000);
  EXPECT_NEAR(mean_size(exponential), 30'000, 300);
  const auto pareto =
      take(load(config::PoissonArrivals{1}, config::ParetoSize{Bytes(30'000), 2.5}), 200'000);
  EXPECT_NEAR(mean_size(pareto), 30'000, 600);
  // The smallest size is mean x (shape - 1) / shape; half of the sizes lie below 2^(1/shape) times
  // that.
  const auto below = std::ranges::count_if(pareto, [](const Arrival& a) {
    return static_cast<double>(a.bytes) < 18'000 * std::pow(2, 0.4);
  });
  EXPECT_NEAR(static_cast<double>(below) / 200'000, 0.5, 0.01);
  EXPECT_GE(std::ranges::min(pareto, {}, &Arrival::bytes).bytes, 17'999U);
}

TEST(Stream, CappedParetoKeepsItsMean) {
  const auto all = take(
      load(config::PoissonArrivals{1}, config::ParetoSize{Bytes(30'000), 1.2, Bytes(2'000'000)}),
      400'000);
  // The smallest size is 6827 B; the standard deviation is 100 KB, that of the mean 160 B.
  EXPECT_NEAR(mean_size(all), 30'000, 700);
  EXPECT_EQ(std::ranges::max(all, {}, &Arrival::bytes).bytes, 2'000'000U);
}

TEST(Stream, OtherSizesDoNotMoveTheArrivals) {
  const auto a = take(load(config::PoissonArrivals{10}, config::FixedSize{Bytes(1)}), 1000);
  const auto b =
      take(load(config::PoissonArrivals{10}, config::ParetoSize{Bytes(9999), 1.2}), 1000);
  const auto c = take(load(config::PoissonArrivals{10}, config::FixedSize{Bytes(1)}), 1000, 2);
  bool same = true;
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].at, b[i].at);
    EXPECT_EQ(a[i].from, b[i].from);
    same &= a[i].at == c[i].at;
  }
  EXPECT_FALSE(same) << "another seed, other arrivals";
}

TEST(Stream, ArrivesOnlyInTheOnPart) {
  config::Workload w = load(config::PoissonArrivals{1000}, config::FixedSize{Bytes(1)});
  w.on = 200_ms;
  w.off = 300_ms;
  w.start = 1_s;
  w.stop = 11_s;
  const auto all = take(w, 1'000'000);
  EXPECT_NEAR(static_cast<double>(all.size()), 4000, 250);
  for (const Arrival& a : all) ASSERT_LT((a.at - 1_s).count() % 500'000'000, 200'000'000);
  EXPECT_LT(all.back().at, 11_s);
}

TEST(Trace, PausesBeyondAllTimeEndIt) {
  config::Workload w = load(config::TraceArrivals{}, config::TraceSize{"memory.csv"});
  w.on = 1_us;
  w.off = 3600_s * 1000;
  const auto trace = std::make_shared<const std::vector<TraceEntry>>(
      std::vector<TraceEntry>{{Nanos(500), 1}, {Nanos(1500), 2}, {1_s * 1'000'000'000, 3}});
  auto stream = Stream::make(w, 1, 0, trace);
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->next()->at, Nanos(500));
  EXPECT_EQ(stream->next()->at, Nanos(1500) + w.off);
  EXPECT_FALSE(stream->next());
}

TEST(Trace, DrivesAWorkload) {
  const std::string path = ::testing::TempDir() + "turnpike-trace.csv";
  std::ofstream(path) << "time_s,bytes\n0.25,100\n0.75,200\n";
  config::Workload w = load(config::TraceArrivals{}, config::TraceSize{path});
  w.start = 2_s;
  const auto all = take(w, 10);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].at, 2_s + 250_ms);
  EXPECT_EQ(all[1].bytes, 200U);
  w.arrivals = config::PeriodicArrivals{1};
  EXPECT_EQ(take(w, 4)[2].bytes, 100U) << "sizes come round again";
  EXPECT_FALSE(Stream::make(load(config::TraceArrivals{}, config::FixedSize{Bytes(1)}), 1, 0));
}

TEST(TrafficSchedule, SplitsTrafficByHostWithoutChangingIt) {
  config::Topology t;
  t.hosts.resize(4);
  t.workloads = {load(config::PoissonArrivals{100}, config::FixedSize{Bytes(5)}),
                 load(config::PoissonArrivals{50}, config::ExponentialSize{Bytes(50)})};
  for (auto& w : t.workloads) w.stop = 20_s;
  config::Flow f;
  f.to = 3;
  f.start = 2_s;
  f.stop = 4_s;
  f.count = 2;
  t.flows = {f, f};
  t.flows[1].from = 1;

  const auto events = [&](const std::function<bool(uint32_t)>& plays) {
    auto schedule = TrafficSchedule::make(t, 7, plays);
    std::vector<Event> all;
    for (; schedule->next_time() != kNever; schedule->pop()) {
      EXPECT_TRUE(all.empty() || schedule->next_time() >= all.back().at);
      all.push_back(schedule->next());
    }
    return all;
  };
  // Two hosts share what is drawn; one of them asks for its flows long before the other.
  auto shared = SharedArrivals::make(t, 7, {2, 0, 3}, Traces());
  ASSERT_TRUE(shared);
  const auto shared_events = [&](uint32_t host) {
    auto schedule = TrafficSchedule::make(t, host, *shared);
    std::vector<Event> of_host;
    for (; schedule.next_time() != kNever; schedule.pop()) of_host.push_back(schedule.next());
    return of_host;
  };
  t.workloads[0].stop = kNever;  // host 3 is no source: it must not draw for ever
  auto endless = SharedArrivals::make(t, 7, {2, 0, 3}, Traces());
  EXPECT_FALSE(endless->next(0, 3));
  t.workloads[0].stop = 20_s;
  const auto all = events([](uint32_t) { return true; });
  size_t parts = 0;
  for (uint32_t host = 0; host < 3; ++host) {
    const auto part = events([&](uint32_t h) { return h == host; });
    if (host != 1) {
      const auto same = shared_events(host);
      ASSERT_EQ(same.size(), part.size());
      for (size_t i = 0; i < same.size(); ++i) {
        EXPECT_EQ(same[i].at, part[i].at);
        EXPECT_EQ(same[i].what, part[i].what);
        EXPECT_EQ(same[i].source, part[i].source);
        EXPECT_EQ(same[i].to, part[i].to);
        EXPECT_EQ(same[i].bytes, part[i].bytes);
      }
    }
    parts += part.size();
    size_t i = 0;
    for (const Event& e : all) {
      if (e.from != host) continue;
      ASSERT_LT(i, part.size());
      EXPECT_EQ(part[i].at, e.at);
      EXPECT_EQ(part[i].bytes, e.bytes);
      EXPECT_EQ(part[i++].source, e.source);
    }
    EXPECT_EQ(i, part.size());
  }
  EXPECT_EQ(parts, all.size());
  EXPECT_NEAR(static_cast<double>(all.size()), 3000 + 8, 250);
  EXPECT_EQ(std::ranges::count(all, Event::What::kStop, &Event::what), 4);
}

TEST(TrafficSchedule, HoldsStartsBackAndLetsStopsPass) {
  config::Topology t;
  t.hosts.resize(2);
  t.hosts[0].changes = {{2_s, Budget(3)}};
  config::Flow f;
  f.to = 1;
  f.start = 1_s;
  f.stop = 2_s;
  t.flows = {f};
  t.workloads = {load(config::PeriodicArrivals{1}, config::FixedSize{Bytes(5)})};
  t.workloads[0].from = {0};
  t.workloads[0].stop = 3_s;
  auto schedule = TrafficSchedule::make(t, 7, [](uint32_t) { return true; });
  std::vector<std::pair<Nanos, Event::What>> all;
  const auto take = [&] {
    for (; schedule->next_time() != kNever; schedule->pop())
      all.emplace_back(schedule->next_time(), schedule->next().what);
  };
  schedule->hold_starts(true);
  take();
  EXPECT_TRUE(schedule->starts_held());
  schedule->hold_starts(false);
  take();
  using What = Event::What;
  EXPECT_EQ(all, (decltype(all){{2_s, What::kBudget},
                                {2_s, What::kStop},
                                {0_s, What::kStart},
                                {1_s, What::kStart},
                                {1_s, What::kStart},
                                {2_s, What::kStart}}));
}

TEST(TrafficSchedule, GoesOnWhereItIsMovedTo) {
  config::Topology t;
  t.hosts.resize(2);
  config::Flow f;
  f.to = 1;
  f.count = 2;
  t.flows = {f};
  auto made = TrafficSchedule::make(t, 7, [](uint32_t) { return true; });
  TrafficSchedule schedule = std::move(*made);
  EXPECT_EQ(schedule.next().instance, 0U);
  schedule.pop();
  EXPECT_EQ(schedule.next().instance, 1U);
  schedule.pop();
  EXPECT_EQ(schedule.next_time(), kNever);
}

TEST(Traces, AreReadOnceAndKnowTheirPeak) {
  const std::string path = ::testing::TempDir() + "peak.csv";
  std::ofstream(path) << "0,1\n0.5,1\n1.5,1\n1.6,1\n1.7,1\n9,1\n";
  config::Topology t;
  t.workloads = {load(config::TraceArrivals{}, config::TraceSize{path}),
                 load(config::PoissonArrivals{1}, config::FixedSize{Bytes(1)}),
                 load(config::TraceArrivals{}, config::TraceSize{path}),
                 load(config::TraceArrivals{}, config::TraceSize{"/nonexistent.csv"})};
  const Traces traces(t);
  ASSERT_NE(traces.of(0), nullptr);
  EXPECT_EQ(traces.of(0), traces.of(2));
  EXPECT_EQ(traces.of(1), nullptr);
  EXPECT_EQ(traces.of(3), nullptr);
  EXPECT_EQ(max_arrivals(*traces.of(0), 1_s), 3U);
  EXPECT_EQ(max_arrivals(*traces.of(0), 100_s), 6U);
  EXPECT_EQ(max_arrivals(*traces.of(0), Nanos(1)), 1U);
  EXPECT_EQ(max_arrivals({}, 1_s), 0U);
}

TEST(TrafficSchedule, ChangesBudgetsOfItsHosts) {
  config::Topology t;
  t.hosts.resize(2);
  t.hosts[0].changes = {{1_s, Budget(3)}, {2_s, Budget(4)}};
  t.hosts[1].changes = {{1_s, Budget(5)}};
  config::Flow f;
  f.start = 1_s;
  t.flows = {f};
  auto schedule = TrafficSchedule::make(t, 7, [](uint32_t h) { return h == 0; });
  std::vector<std::tuple<Nanos, Event::What, double>> all;
  for (; schedule->next_time() != kNever; schedule->pop()) {
    const Event& e = schedule->next();
    EXPECT_EQ(e.from, 0U);
    all.emplace_back(e.at, e.what, e.budget.count());
  }
  using What = Event::What;
  EXPECT_EQ(all, (decltype(all){
                     {1_s, What::kBudget, 3}, {1_s, What::kStart, 0}, {2_s, What::kBudget, 4}}));
}

}  // namespace
}  // namespace turnpike::sender
