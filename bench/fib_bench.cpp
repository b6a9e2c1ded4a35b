// SPDX-License-Identifier: BSD-3-Clause
// Look-ups of whole bursts in routing tables of as many routes as the argument says, at addresses
// that caches do not expect. One item is an address.
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/kept.h"
#include "bench/measure.h"
#include "bench/stage_bed.h"
#include "router/control/tables.h"

namespace turnpike::bench::fib {
namespace {

constexpr size_t kAddresses = 1 << 18, kAtOnce = 32;

/// Routes all over the unicast space at even distances, /24 of IPv4.
config::Ipv4Prefix ipv4_route(uint32_t i, uint32_t count) {
  constexpr uint32_t kFirst = 1 << 16, kBlocks = 222 << 16;  // 1.0.0.0 to 222.255.255.0
  return {(kFirst + static_cast<uint32_t>(uint64_t{i} * kBlocks / count)) << 8, 24};
}
/// /48 below 2000::/4: the 20 bits of the first 24 that vary, then 12 more, as far as they are
/// needed.
config::Ipv6Prefix ipv6_route(uint32_t i) {
  constexpr uint32_t kScatter = 2654435761U;  // odd, so different i stay different
  const uint32_t bits = i * kScatter;
  config::Ipv6 a{0x20};
  a[0] = static_cast<uint8_t>(a[0] | (bits >> 28));
  for (size_t k = 0; k < 3; ++k) a[1 + k] = static_cast<uint8_t>(bits >> (20 - 8 * k));
  a[4] = static_cast<uint8_t>(bits << 4);
  return {a, 48};
}

template <class Address>
class Bed {
 public:
  explicit Bed(size_t routes) : routes_(routes) {
    config::Topology t = star(2, "none");
    std::mt19937_64 random(1);
    for (uint32_t i = 0; i < routes; ++i) add(t.routers[0], i);
    for (size_t i = 0; i < kAddresses; ++i) draw(t.routers[0], static_cast<uint32_t>(random()));
    auto tables = router::Tables::build(t, 0, -1);
    if (!tables) throw std::runtime_error(tables.error());
    tables_ = std::move(*tables);
  }

  [[nodiscard]] size_t size() const { return routes_; }
  void find(const router::NextHop** out) {
    tables_->find(std::span<const Address>(addresses_).subspan(at_, kAtOnce), out);
    at_ = (at_ + kAtOnce) % kAddresses;
  }

 private:
  void add(config::Router& r, uint32_t i) {
    if constexpr (std::is_same_v<Address, config::Ipv4>) {
      r.ipv4_routes.push_back({ipv4_route(i, static_cast<uint32_t>(routes_)), i % 2});
    } else {
      r.ipv6_routes.push_back({ipv6_route(i), i % 2});
    }
  }
  void draw(const config::Router& r, uint32_t random) {
    const uint32_t i = random % static_cast<uint32_t>(routes_);
    if constexpr (std::is_same_v<Address, config::Ipv4>) {
      addresses_.push_back(r.ipv4_routes[i + (r.ipv4_routes.size() - routes_)].prefix.address + 1);
    } else {
      addresses_.push_back(r.ipv6_routes[i + (r.ipv6_routes.size() - routes_)].prefix.address);
    }
  }

  size_t routes_;
  size_t at_ = 0;
  std::vector<Address> addresses_;
  std::unique_ptr<const router::Tables> tables_;
};

template <class Address>
void find(benchmark::State& state) {
  auto& bed = kept<Bed<Address>>(static_cast<size_t>(state.range(0)));
  const router::NextHop* hops[kAtOnce];
  measure(state, [&] {
    bed.find(hops);
    benchmark::DoNotOptimize(hops[0]);
    return kAtOnce;
  });
}
void sizes(benchmark::internal::Benchmark* b) {
  b->ArgName("routes")->Arg(1)->Arg(1000)->Arg(100'000)->Arg(1'000'000);
}
BENCHMARK(find<config::Ipv4>)->Name("fib/ipv4")->Apply(sizes);
BENCHMARK(find<config::Ipv6>)->Name("fib/ipv6")->Apply(sizes);

}  // namespace
}  // namespace turnpike::bench::fib
