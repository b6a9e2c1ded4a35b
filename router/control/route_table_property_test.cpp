// SPDX-License-Identifier: BSD-3-Clause
// Random batches of changes against a table that is searched from its beginning to its end.
#include <map>
#include <random>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "common/config/address.h"
#include "common/units/instrumented.h"
#include "router/control/route_table.h"
#include "tests/support/eal.h"

namespace turnpike::router {
namespace {

using config::Ipv4;
using config::Ipv4Prefix;
using config::Ipv6;
using config::Ipv6Prefix;
using Action = NextHop::Action;

constexpr size_t kLinkCount = 3;

/// A lookup's result: action, link, and the neighbour's MAC address.
using Outcome = std::tuple<Action, size_t, config::Mac>;

Ipv4 plus(Ipv4 a, int by) { return a + static_cast<uint32_t>(by); }
Ipv6 plus(Ipv6 a, int by) {
  for (size_t i = a.size(); i-- > 0;) {
    const int sum = a[i] + by;
    a[i] = static_cast<uint8_t>(sum);
    by = sum < 0 ? -1 : sum > 255 ? 1 : 0;
  }
  return a;
}

std::string text(const Ipv4& a) { return config::ipv4_text(a); }
std::string text(const Ipv6& a) { return config::ipv6_text(a); }

/// The table as an unsorted list.
class Oracle {
 public:
  template <class P>
  using List = std::vector<std::pair<P, std::map<std::pair<uint8_t, uint32_t>, Route>>>;

  template <class P>
  std::map<std::pair<uint8_t, uint32_t>, Route>& at(List<P>& list, const P& prefix) {
    for (auto& [p, routes] : list)
      if (p.address == prefix.address && p.length == prefix.length) return routes;
    list.push_back({prefix, {}});
    return list.back().second;
  }
  List<Ipv4Prefix>& of(const Ipv4Prefix&) { return ipv4; }
  List<Ipv6Prefix>& of(const Ipv6Prefix&) { return ipv6; }

  template <class P, class A>
  std::set<Outcome> find(List<P>& list, const A& address) const {
    const Route* best = nullptr;
    int length = -1;
    for (const auto& [p, routes] : list)
      if (!routes.empty() && config::contains(p, address) && p.length > length) {
        best = &routes.begin()->second;
        length = p.length;
      }
    if (best == nullptr) return {{Action::kNoRoute, 0, {}}};
    const size_t link =
        best->paths.empty() ? 0 : std::ranges::min(best->paths, {}, &Path::link).link;
    switch (best->action) {
      case Route::Action::kBlackhole:
        return {{Action::kBlackhole, 0, {}}};
      case Route::Action::kUnreachable:
        return {{Action::kUnreachable, 0, {}}};
      case Route::Action::kProhibit:
        return {{Action::kProhibit, 0, {}}};
      case Route::Action::kLocal:
        return {{Action::kLocal, link, {}}};
      case Route::Action::kBroadcast:
        return {{Action::kBroadcast, link, {}}};
      case Route::Action::kForward:
        break;
    }
    std::set<Outcome> some, known;
    for (const Path& p : best->paths) {
      Address gateway = address;
      if (const auto* a = std::get_if<Ipv4>(&p.gateway)) gateway = *a;
      if (const auto* a = std::get_if<Ipv6>(&p.gateway)) gateway = *a;
      const bool direct = p.gateway.index() == 0;
      const auto mac = neighbours.find({p.link, gateway});
      if (mac == neighbours.end()) {
        some.insert({Action::kUnresolved, p.link, {}});
      } else {
        some.insert({Action::kForward, p.link, mac->second});
        if (direct) known.insert({Action::kForward, p.link, mac->second});
      }
    }
    // Of several links a neighbour is on that on which it is known.
    return known.empty() ? some : known;
  }

  List<Ipv4Prefix> ipv4;
  List<Ipv6Prefix> ipv6;
  std::map<std::pair<size_t, Address>, config::Mac> neighbours;
};

template <class A>
std::set<Outcome> looked_up(const Routes& routes, const A& address) {
  const NextHop* hop = nullptr;
  routes.find(std::span(&address, 1), &hop);
  const auto outcome = [](const NextHop& h) {
    return Outcome(h.action, h.link,
                   h.action == Action::kForward ? h.macs.destination : config::Mac{});
  };
  if (hop->action != Action::kPaths) return {outcome(*hop)};
  std::set<Outcome> all;
  for (uint32_t hash = 0; hash < PathSet::kBuckets; ++hash)
    all.insert(outcome(routes.choose(*hop, hash)));
  return all;
}

class Trial {
 public:
  explicit Trial(uint64_t seed) : random_(seed) {
    static int number = 0;
    auto made = RouteTable::make({.name = "prop" + std::to_string(number++),
                                  .links = std::vector<HopLink>(kLinkCount),
                                  .capacity = FibCapacity::of(5000, 5000)});
    if (!made) throw std::runtime_error(made.error());
    table_ = std::move(*made);
  }

  void step() {
    for (uint32_t i = 0, n = draw(30); i <= n; ++i) {
      const bool v4 = draw(2) == 0;
      switch (draw(6)) {
        case 0:
          return_neighbour(v4);
          break;
        case 1:
          v4 ? erase<Ipv4Prefix>() : erase<Ipv6Prefix>();
          break;
        default:
          v4 ? add(any4()) : add(any6());
      }
    }
    table_->commit();
    check();
  }
  [[nodiscard]] RouteTable::Stats stats() const { return table_->stats(); }

 private:
  uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  // Dense on purpose: prefixes of all lengths within a few bits of each other.
  Ipv4 address4() { return 0x0a000000 | (static_cast<uint32_t>(random_()) & 0x010103ff); }
  Ipv6 address6() {
    Ipv6 a{0x20, 1};
    a[3] = static_cast<uint8_t>(draw(2));
    a[5] = static_cast<uint8_t>(draw(2));
    a[9] = static_cast<uint8_t>(draw(4));
    a[15] = static_cast<uint8_t>(draw(8));
    return a;
  }
  Ipv4Prefix any4() {
    const auto length = draw(8) == 0 ? draw(8) : 8 + draw(25);
    return config::network(Ipv4Prefix{address4(), static_cast<uint8_t>(length)});
  }
  Ipv6Prefix any6() {
    const auto length = draw(8) == 0 ? draw(16) : 16 + draw(113);
    return config::network(Ipv6Prefix{address6(), static_cast<uint8_t>(length)});
  }
  Address gateway(bool v4) { return v4 ? Address(address4() & ~0x300U) : Address(address6()); }

  Route any_route(bool v4) {
    Route r{.action = draw(3) == 0 ? static_cast<Route::Action>(draw(6)) : Route::Action::kForward,
            .distance = static_cast<uint8_t>(10 * draw(3)),
            .metric = draw(2)};
    for (uint32_t i = 0, n = draw(4) == 0 ? 2 + draw(3) : 1; i < n; ++i) {
      Path p{.link = draw(kLinkCount), .gateway = {}, .weight = static_cast<uint16_t>(1 + draw(3))};
      if (draw(3) > 0)
        std::visit([&](const auto& a) { p.gateway = a; }, gateway(draw(4) == 0 ? !v4 : v4));
      r.paths.push_back(p);
    }
    return r;
  }

  template <class P>
  void add(const P& prefix) {
    const Route r = any_route(std::is_same_v<P, Ipv4Prefix>);
    oracle_.at(oracle_.of(prefix), prefix)[{r.distance, r.metric}] = r;
    table_->set_route(prefix, r);
    touched_.push_back(prefix);
  }
  template <class P>
  void erase() {
    auto& list = oracle_.of(P{});
    if (list.empty()) return;
    auto& [prefix, routes] = list[draw(static_cast<uint32_t>(list.size()))];
    if (routes.empty()) return;
    const auto at = std::next(routes.begin(), draw(static_cast<uint32_t>(routes.size())));
    table_->erase_route(prefix, at->first.first, at->first.second);
    routes.erase(at);
    touched_.push_back(prefix);
  }
  void return_neighbour(bool v4) {
    const size_t link = draw(kLinkCount);
    const Address address = gateway(v4);
    if (draw(3) == 0) {
      oracle_.neighbours.erase({link, address});
      table_->erase_neighbour(link, address);
    } else {
      const config::Mac mac{2, 0, 0, 0, 0, static_cast<uint8_t>(draw(200))};
      oracle_.neighbours[{link, address}] = mac;
      table_->set_neighbour(link, address, mac);
    }
  }

  template <class P, class A>
  void compare(const P&, const A& address) {
    const auto expected = oracle_.find(oracle_.of(P{}), address);
    const auto found = looked_up(*table_->current().load(), address);
    for (const Outcome& o : found)
      ASSERT_TRUE(expected.contains(o))
          << "action " << static_cast<int>(std::get<0>(o)) << " by link " << std::get<1>(o)
          << ", not " << static_cast<int>(std::get<0>(*expected.begin())) << " by link "
          << std::get<1>(*expected.begin()) << ", for " << text(address);
  }

  void check() {
    for (int i = 0; i < 100; ++i) {
      compare(Ipv4Prefix{}, address4());
      compare(Ipv6Prefix{}, address6());
    }
    for (const Prefix& prefix : touched_)
      std::visit(
          [&](const auto& p) {
            for (const int by : {-1, 0}) compare(p, plus(p.address, by));
            for (const int by : {0, 1}) compare(p, plus(last_of(p), by));
          },
          prefix);
    if (touched_.size() > 200) touched_.clear();
    ASSERT_EQ(table_->stats().refused, 0U);
    size_t served = 0, listed = 0;
    table_->for_each([&](const Prefix&, const Route&, bool in_fib) {
      ++listed;
      served += in_fib;
    });
    size_t expected = 0;
    for (const auto& [p, routes] : oracle_.ipv4) expected += !routes.empty();
    for (const auto& [p, routes] : oracle_.ipv6) expected += !routes.empty();
    ASSERT_EQ(listed, expected);
    ASSERT_EQ(served, expected);
  }

  std::mt19937_64 random_;
  std::unique_ptr<RouteTable> table_;
  Oracle oracle_;
  std::vector<Prefix> touched_;
};

TEST(RouteTableProperty, AnswersAsASearchOfAllRoutes) {
  for (uint64_t seed = 1; seed <= (kInstrumented ? 1 : 4); ++seed) {
    Trial run(seed);
    constexpr unsigned kBatches = kInstrumented ? 30 : 150;
    for (unsigned i = 0; i < kBatches; ++i) {
      run.step();
      if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", batch " << i;
    }
    EXPECT_EQ(run.stats().differences, 0U);
    EXPECT_GT(run.stats().commits, kBatches * 2 / 3);
  }
}

// A table with too little room for prefixes and groups: what it holds is right, whatever it
// refuses.
TEST(RouteTableProperty, AFullTableAnswersFromWhatItHolds) {
  std::mt19937_64 random(11);
  auto made =
      RouteTable::make({.name = "full",
                        .links = std::vector<HopLink>(kLinkCount),
                        .capacity = {.ipv4 = 60, .ipv6 = 8, .ipv4_groups = 3, .ipv6_groups = 64}});
  ASSERT_TRUE(made) << made.error();
  RouteTable& table = **made;
  const auto draw = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  const auto address = [&] { return 0x0a000000 | (static_cast<uint32_t>(random()) & 0x010707ff); };
  std::vector<Ipv4Prefix> given;
  for (int batch = 0; batch < 300; ++batch) {
    for (uint32_t i = 0, n = draw(12); i < n; ++i) {
      if (given.size() > 10 && draw(2) == 0) {
        const size_t at = draw(static_cast<uint32_t>(given.size()));
        table.erase_route(given[at], 20, 0);
        given.erase(given.begin() + static_cast<ptrdiff_t>(at));
      } else {
        given.push_back(
            config::network(Ipv4Prefix{address(), static_cast<uint8_t>(12 + draw(21))}));
        const Ipv4 gateway = 0x0b000000 + draw(50);
        table.set_route(given.back(), {.distance = 20, .paths = {{.gateway = gateway}}});
      }
    }
    table.commit();
    std::vector<std::pair<Ipv4Prefix, Via>> held;
    table.for_each([&](const Prefix& p, const Route& r, bool in_fib) {
      if (in_fib) held.push_back({std::get<Ipv4Prefix>(p), {.gateway = r.paths[0].gateway}});
    });
    ASSERT_LE(held.size(), 60U);
    for (int i = 0; i < 300; ++i) {
      const Ipv4 a = address();
      const std::pair<Ipv4Prefix, Via>* best = nullptr;
      for (const auto& h : held)
        if (config::contains(h.first, a) &&
            (best == nullptr || h.first.length > best->first.length))
          best = &h;
      const NextHop& hop = table.current().load()->find(a);
      ASSERT_EQ(hop.action, best == nullptr ? Action::kNoRoute : Action::kUnresolved)
          << "batch " << batch << ", " << text(a);
      if (best != nullptr) {
        ASSERT_EQ(table.gateway_of(hop.id), best->second) << "batch " << batch << ", " << text(a);
      }
    }
  }
  EXPECT_GT(table.stats().refused, 20U);
}

}  // namespace
}  // namespace turnpike::router
