// SPDX-License-Identifier: BSD-3-Clause
// Routes of IPv4 as the Internet has them, and random changes to them.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <random>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <rte_cycles.h>

#include "common/config/address.h"
#include "router/control/route_table.h"

namespace turnpike::bench {

inline constexpr uint32_t kLinks = 8, kGateways = 64;
inline constexpr uint32_t kGateway = 0x64400000;  // 100.64.0.0 and those after it

/// Prefixes per thousand of each length in the Internet's table, roughly; the rest is /24.
inline constexpr std::array<std::pair<uint8_t, uint32_t>, 12> kMix{{{16, 13},
                                                                    {17, 8},
                                                                    {18, 14},
                                                                    {19, 25},
                                                                    {20, 45},
                                                                    {21, 50},
                                                                    {22, 110},
                                                                    {23, 100},
                                                                    {14, 4},
                                                                    {12, 2},
                                                                    {29, 2},
                                                                    {32, 2}}};

inline std::vector<config::Ipv4Prefix> internet(size_t count, std::mt19937_64& random) {
  std::unordered_set<uint64_t> seen;
  std::vector<config::Ipv4Prefix> all;
  while (all.size() < count) {
    uint8_t length = 24;
    auto left = static_cast<uint32_t>(random() % 1000);
    for (const auto& [l, share] : kMix) {
      if (left < share) {
        length = l;
        break;
      }
      left -= share;
    }
    const auto address = static_cast<uint32_t>((1U << 24) + random() % (222U << 24));
    const auto p = config::network(config::Ipv4Prefix{address, length});
    if (seen.insert(uint64_t{p.address} << 8 | length).second) all.push_back(p);
  }
  return all;
}

inline router::Route by(uint32_t gateway) {
  const config::Ipv4 address = kGateway + gateway % kGateways;
  return {.distance = 20, .paths = {{.link = gateway % kLinks, .gateway = address}}};
}

/// Loads the routes in batches of `changes`, with a default route that never changes below them.
inline void load(router::RouteTable& table, const std::vector<config::Ipv4Prefix>& routes,
                 size_t changes, std::mt19937_64& random) {
  for (uint32_t g = 0; g < kGateways; ++g)
    table.set_neighbour(g % kLinks, kGateway + g, {2, 0, 0, 0, 0, static_cast<uint8_t>(g)});
  table.set_route(config::Ipv4Prefix{0, 0}, by(0));
  for (size_t i = 0; i < routes.size(); ++i) {
    table.set_route(routes[i], by(static_cast<uint32_t>(random())));
    if (i % changes == changes - 1) table.commit();
  }
  table.commit();
}

/// Replaces, withdraws and announces routes at random.
class Writer {
 public:
  Writer(router::RouteTable& table, const std::vector<config::Ipv4Prefix>& routes)
      : table_(table), routes_(routes), there_(routes.size(), true) {}

  void batch(size_t changes) {
    for (size_t i = 0; i < changes; ++i) {
      const size_t at = random_() % routes_.size();
      if (there_[at] && random_() % 2 == 0) {
        table_.erase_route(routes_[at], 20, 0);
        there_[at] = false;
      } else {
        table_.set_route(routes_[at], by(static_cast<uint32_t>(random_())));
        there_[at] = true;
      }
    }
    table_.commit();
  }

 private:
  router::RouteTable& table_;
  const std::vector<config::Ipv4Prefix>& routes_;
  std::vector<bool> there_;
  std::mt19937_64 random_{3};
};

/// The number in a program's argument `index`; `otherwise` without one.
template <class Number>
Number number(int argc, char** argv, int index, Number otherwise) {
  if (index >= argc) return otherwise;
  const std::string_view text = argv[index];
  std::from_chars(text.data(), text.data() + text.size(), otherwise);
  return otherwise;
}

inline double seconds_since(uint64_t begin) {
  return static_cast<double>(rte_rdtsc() - begin) / static_cast<double>(rte_get_tsc_hz());
}

/// Time of this thread on a CPU, s: on a busy machine less than the time that passes.
inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace turnpike::bench
