// SPDX-License-Identifier: BSD-3-Clause
// Changes a table of IPv4 routes in batches while a thread looks up in it. Prints the rate of
// changes, and the times of lookups in bursts of 32 in turns of quiet and of changes, so that other
// load on the machine meets both. Every lookup must find the route that never changes below its
// address; those that do not are counted as wrong.
//
//     bench-deltas [ROUTES [CHANGES PER BATCH [SECONDS]]]      default: 1000000 1000 10
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include <rte_cycles.h>

#include "bench/route_changes.h"
#include "common/dpdk/eal.h"
#include "common/metrics/histogram.h"
#include "router/control/route_table.h"

namespace {

using namespace turnpike;
using namespace turnpike::router;
using namespace turnpike::bench;

constexpr size_t kAtOnce = 32;

/// Looks up until `end` is set. Its times go to one of two histograms.
class Reader {
 public:
  Reader(RouteTable& table, const std::vector<config::Ipv4Prefix>& routes) : table_(table) {
    std::mt19937_64 random(7);
    for (size_t i = 0; i < size_t{1} << 18; ++i)
      addresses_.push_back(routes[random() % routes.size()].address + 1);
  }

  void run() {
    Quiescence& quiescence = table_.quiescence();
    quiescence.online(0);
    const double ns = 1e9 / static_cast<double>(rte_get_tsc_hz());
    for (size_t at = 0; !end.load(std::memory_order_relaxed);
         at = (at + kAtOnce) % addresses_.size()) {
      const NextHop* hops[kAtOnce];
      const std::span<const uint32_t> burst = std::span(addresses_).subspan(at, kAtOnce);
      const uint64_t begin = rte_rdtsc();
      table_.current().load(std::memory_order_acquire)->find(burst, hops);
      uint64_t unknown = 0;
      for (const NextHop* hop : hops) unknown += hop->action != NextHop::Action::kForward;
      const auto took = static_cast<double>(rte_rdtsc() - begin) * ns;
      quiescence.quiescent(0);
      wrong += unknown;
      times[phase.load(std::memory_order_relaxed)].record(static_cast<uint64_t>(took));
    }
    quiescence.offline(0);
  }

  std::atomic<bool> end{false};
  std::atomic<unsigned> phase{0};  // 0: quiet, 1: changes
  std::array<metrics::Histogram, 2> times;
  uint64_t wrong = 0;

 private:
  RouteTable& table_;
  std::vector<uint32_t> addresses_;
};

void print_rate(const char* what, size_t changes, double seconds, double cpu) {
  const auto n = static_cast<double>(changes);
  std::printf("%s %zu routes: %.0f a second, %.0f a second on its CPU\n", what, changes,
              n / seconds, n / cpu);
}

void print(const char* name, const metrics::Histogram& h) {
  std::printf("lookup of %zu, %s: %lu bursts, ns: half %lu, 99 %% %lu, 99.9 %% %lu\n", kAtOnce,
              name, static_cast<unsigned long>(h.count()), h.quantile(0.5), h.quantile(0.99),
              h.quantile(0.999));
}

int measure(size_t count, size_t changes, double seconds) {
  std::mt19937_64 random(1);
  const auto routes = internet(count, random);
  auto made = RouteTable::make(
      {.name = "bench",
       .links = std::vector<HopLink>(kLinks),
       .capacity = FibCapacity::of(static_cast<uint32_t>(count + kGateways + 16), 16)});
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().c_str());
    return 1;
  }
  RouteTable& table = **made;

  const uint64_t begin = rte_rdtsc();
  const double cpu_begin = cpu_seconds();
  load(table, routes, changes, random);
  print_rate("loaded", count, seconds_since(begin), cpu_seconds() - cpu_begin);

  Reader reader(table, routes);
  Writer writer(table, routes);
  std::thread thread([&] { reader.run(); });
  size_t written = 0;
  double writing = 0, cpu = 0;
  constexpr double kTurn = 0.25;  // s
  for (const uint64_t start = rte_rdtsc(); seconds_since(start) < seconds;) {
    reader.phase = 0;
    for (const uint64_t turn = rte_rdtsc(); seconds_since(turn) < kTurn;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    reader.phase = 1;
    const uint64_t turn = rte_rdtsc();
    const double cpu_turn = cpu_seconds();
    for (; seconds_since(turn) < kTurn; written += changes) writer.batch(changes);
    writing += seconds_since(turn);
    cpu += cpu_seconds() - cpu_turn;
  }
  reader.end = true;
  thread.join();
  const RouteTable::Stats stats = table.stats();
  print_rate("changed", written, writing, cpu);
  print("quiet", reader.times[0]);
  print("changes", reader.times[1]);
  std::printf("wrong lookups %lu, refused %lu, differences %lu, next hops %zu\n",
              static_cast<unsigned long>(reader.wrong), static_cast<unsigned long>(stats.refused),
              static_cast<unsigned long>(stats.differences), stats.hops);
  return reader.wrong + stats.refused + stats.differences == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto routes = number<size_t>(argc, argv, 1, 1'000'000);
  const auto eal = Eal::start({.program = "bench", .memory_mb = 256});
  if (!eal) {
    std::fprintf(stderr, "%s\n", eal.error().c_str());
    return 1;
  }
  return measure(routes, number<size_t>(argc, argv, 2, 1000),
                 static_cast<double>(number<size_t>(argc, argv, 3, 10)));
}
