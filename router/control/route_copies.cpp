// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/route_copies.h"

#include <algorithm>

#include <sched.h>

namespace turnpike::router {

namespace {

using Entry = FibEntry<config::Ipv6Prefix>;

void apply_ipv6(Fib& fib, std::vector<Entry>& entries, Refused& refused) {
  // The longest first: the library's count of free groups drifts least (see rebuild()).
  const auto sets =
      std::partition(entries.begin(), entries.end(), [](const Entry& e) { return e.value == 0; });
  std::sort(entries.begin(), sets,
            [](const Entry& a, const Entry& b) { return a.prefix.length > b.prefix.length; });
  for (Entry& e : entries) {
    if (e.value != 0 && !fib.set(e.prefix, e.value)) {
      refused.push_back(e.prefix);
      e.value = 0;  // for the other copy as well
    }
    if (e.value == 0) fib.erase(e.prefix);
  }
}

}  // namespace

tl::expected<std::unique_ptr<RouteCopies>, std::string> RouteCopies::make(
    std::string name, const FibCapacity& capacity, int socket, uint32_t seed,
    Quiescence& quiescence) {
  std::unique_ptr<RouteCopies> c(new RouteCopies(std::move(name), capacity, socket, quiescence));
  for (Routes& copy : c->copies_) {
    auto fib = c->new_fib();
    if (!fib) return tl::unexpected(fib.error());
    copy.fib() = std::move(*fib);
    copy.dir24() = Dir24(capacity.ipv4_groups);
    copy.set_seed(seed);
  }
  return c;
}

tl::expected<Fib, std::string> RouteCopies::new_fib() {
  FibCapacity ipv6;
  ipv6.ipv6 = capacity_.ipv6;
  ipv6.ipv6_groups = capacity_.ipv6_groups;
  return Fib::create(name_ + "-" + std::to_string(made_++), ipv6, socket_);
}

void RouteCopies::catch_up() {
  if (!behind_) return;
  while (!quiescence_.passed(token_)) sched_yield();
  Refused refused;
  apply(copies_[idle_], last_, refused);
  differences_ += refused.size();
  last_ = {};
  behind_ = false;
}

Refused RouteCopies::publish(
    RouteBatch batch, const std::function<std::vector<FibEntry<config::Ipv6Prefix>>()>& ipv6) {
  Refused refused;
  Routes& copy = copies_[idle_];
  since_rebuild_ += batch.ipv6.size();
  apply(copy, batch, refused);
  if (!refused.empty()) {
    auto whole = ipv6();
    // Often enough to be of use, seldom enough to cost little per change.
    constexpr uint64_t kShare = 4;
    if (since_rebuild_ > whole.size() / kShare) {
      batch.ipv6 = std::move(whole);
      batch.ipv6_whole = true;
      rebuild(copy, batch, refused);
    }
  }
  last_ = std::move(batch);
  behind_ = true;
  current_.store(&copy, std::memory_order_release);
  token_ = quiescence_.start();
  idle_ = 1 - idle_;
  return refused;
}

void RouteCopies::apply(Routes& to, RouteBatch& batch, Refused& refused) {
  for (const auto& [number, hop] : batch.hops) to.set_hop(number, hop);
  for (const auto& [number, set] : batch.paths) to.set_paths(number, set);
  to.dir24().apply(batch.ipv4);
  if (batch.ipv6_whole) {
    rebuild(to, batch, refused);
  } else {
    apply_ipv6(to.fib(), batch.ipv6, refused);
  }
}

// rte_fib6 of DPDK up to 24.11 reserves groups by the prefixes around a new one, and returns them
// by those around it when it goes: if these differ, the count drifts, and may refuse prefixes for
// which there is room. A new table counts from the start.
void RouteCopies::rebuild(Routes& to, RouteBatch& batch, Refused& refused) {
  to.fib().take_ipv6({});  // frees the memory that the new table takes
  if (auto fib = new_fib()) to.fib().take_ipv6(std::move(*fib));
  refused.clear();
  apply_ipv6(to.fib(), batch.ipv6, refused);
  since_rebuild_ = 0;
  ++rebuilds_;
}

}  // namespace turnpike::router
