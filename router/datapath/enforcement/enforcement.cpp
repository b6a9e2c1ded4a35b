// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/enforcement/enforcement.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace turnpike::router {
namespace {

// Published units per burst, and units between two readings of other lcores' withdrawals.
constexpr float kUnits = 65536;
constexpr uint32_t kReadEvery = 2048;

}  // namespace

namespace {

/// Enforcement::per_link_dollar() by customer.
std::vector<float> inflation_of(const config::Topology& topology, const CustomerTable& table) {
  std::vector<double> budgets(topology.groups.size() + 1, 0);
  for (size_t c = 0; c < topology.customers.size(); ++c)
    budgets[table.groups()[c + 1]] += topology.customers[c].budget.count();
  std::vector<float> inflation;
  for (size_t c = 0; c <= topology.customers.size(); ++c) {
    const uint16_t group = table.groups()[c];
    const double weight = group == 0 ? kNoGroupWeight : topology.groups[group - 1].weight;
    inflation.push_back(budgets[group] > 0 ? static_cast<float>(budgets[group] / weight) : 1.0F);
  }
  return inflation;
}

}  // namespace

Enforcement::Shard::Shard(size_t customers)
    : accounts(customers), shared(customers), drops(customers), offenders(customers) {}

// Without tables and accounts.
std::unique_ptr<Enforcement> Enforcement::make_limits(const config::Topology& topology,
                                                      size_t router) {
  // A dollar of a customer without a budget: longer than any debt, and finite.
  constexpr float kNever = 1e30F;
  const config::Router& node = topology.routers[router];
  const config::Enforcement& given = *node.enforcement;
  std::unique_ptr<Enforcement> e(new Enforcement);
  e->limits_ = {.tolerance = static_cast<float>(given.tolerance),
                .burst = static_cast<float>(to_seconds(given.burst)),
                .promise_burst = static_cast<float>(to_seconds(given.promise_burst)),
                .unpriced_burst = static_cast<float>(to_seconds(given.unpriced_burst)),
                .charge_unpriced = given.charge_unpriced};
  for (const size_t l : node.links)
    e->edge_.push_back(std::ranges::find(given.links, l) != given.links.end() ? 1 : 0);
  for (const Protocol& p : protocols()) {
    e->charges_[p.id] = p.charge;
    e->exchange_at_[p.id] = p.exchange_at;
  }
  e->per_dollar_.push_back(0);
  for (const config::Customer& c : topology.customers) {
    const double budget = c.budget.count() * (1 + given.tolerance);
    e->per_dollar_.push_back(static_cast<float>(std::min(1 / budget, double{kNever})));
  }
  return e;
}

void Enforcement::add_accounts(size_t customers, unsigned workers) {
  for (unsigned w = 0; w < workers; ++w) {
    auto shard = std::make_unique<Shard>(customers + 1);
    for (size_t c = 1; c <= customers; ++c) shard->accounts[c].per_dollar = per_dollar_[c];
    shards_.push_back(std::move(shard));
  }
}

tl::expected<std::unique_ptr<Enforcement>, std::string> Enforcement::make(
    const config::Topology& topology, size_t router, unsigned workers, int socket) {
  return make_successor(topology, router, workers, socket, {});
}

tl::expected<std::unique_ptr<Enforcement>, std::string> Enforcement::make_successor(
    const config::Topology& topology, size_t router, unsigned workers, int socket,
    const Succession& s) {
  auto e = make_limits(topology, router);
  if (s.table == nullptr) {
    auto table = CustomerTable::build(topology, router, socket);
    if (!table) return tl::unexpected(table.error());
    e->table_ = std::move(*table);
  }
  e->inflation_ = inflation_of(topology, s.table == nullptr ? *e->table_ : *s.table);
  if (!s.same) e->add_accounts(topology.customers.size(), workers);
  return e;
}

// Of the published withdrawals, s.
float Enforcement::unit(Bucket which) const {
  return (which == Bucket::kPaid ? limits_.burst : limits_.promise_burst) / kUnits;
}

void Enforcement::publish(unsigned worker, uint32_t customer, Bucket which, float seconds) {
  SharedAccount& own = shared(worker, customer);
  const auto b = static_cast<size_t>(which);
  own.since[b] += seconds;
  float& carry = own.carry[b];
  carry += seconds / unit(which);
  if (carry < 1) return;
  const auto units = static_cast<uint32_t>(carry);
  carry -= static_cast<float>(units);
  // Single writer: no read-modify-write is needed.
  const uint32_t before = own.published[b].load(std::memory_order_relaxed), now = before + units;
  own.published[b].store(now, std::memory_order_relaxed);
  if (before / kReadEvery != now / kReadEvery) add_others(worker, customer, which);
}

void Enforcement::add_others(unsigned worker, uint32_t customer, Bucket which) {
  const auto b = static_cast<size_t>(which);
  uint32_t others = 0;
  for (unsigned w = 0; w < workers(); ++w)
    if (w != worker) others += shared(w, customer).published[b].load(std::memory_order_relaxed);
  SharedAccount& own = shared(worker, customer);
  const uint32_t more = others - own.seen[b];
  own.seen[b] = others;
  PerBucket& debt = account(worker, customer).debt;
  debt[b] = own.take(b, debt[b], static_cast<float>(more) * unit(which));
}

void Enforcement::count(unsigned worker, uint32_t customer, Refusal why, uint32_t bytes) {
  Shard& shard = *shards_[worker];
  CustomerDrops& drops = shard.drops[customer];
  if (drops.bytes.read() == 0) {
    const uint32_t n = shard.offender_count.load(std::memory_order_relaxed);
    shard.offenders[n] = customer;
    // Readers see the entry before the count that includes it.
    shard.offender_count.store(n + 1, std::memory_order_release);
  }
  drops.packets[static_cast<size_t>(why)].add();
  drops.bytes.add(bytes);
}

uint64_t Enforcement::Drops::sum() const {
  return std::accumulate(packets.begin(), packets.end(), uint64_t{0});
}

std::vector<Enforcement::Drops> Enforcement::drops() const {
  std::map<uint32_t, Drops> found;
  for (const auto& shard : shards_) {
    const uint32_t n = shard->offender_count.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t customer = shard->offenders[i];
      Drops& sum = found[customer];
      sum.customer = customer;
      const CustomerDrops& drops = shard->drops[customer];
      for (size_t r = 0; r < kRefusals; ++r) sum.packets[r] += drops.packets[r].read();
      sum.bytes += drops.bytes.read();
    }
  }
  std::vector<Drops> out;
  out.reserve(found.size());
  for (const auto& [customer, drops] : found) out.push_back(drops);
  return out;
}

size_t Enforcement::memory(size_t customers, unsigned workers) {
  return (customers + 1) * workers *
         (sizeof(CustomerAccount) + sizeof(SharedAccount) + sizeof(CustomerDrops) +
          sizeof(uint32_t));
}

}  // namespace turnpike::router
