// SPDX-License-Identifier: BSD-3-Clause
// State of an edge router's customers: an account per customer and lcore, and counters of drops.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include <tl/expected.hpp>

#include "common/dpdk/large_array.h"
#include "common/metrics/counter.h"
#include "common/protocols/registry.h"
#include "router/control/customer_table.h"
#include "router/datapath/enforcement/account.h"
#include "router/datapath/enforcement/refusal.h"

namespace turnpike::router {

/// One lcore's counters of one customer. Only dropped packets touch them.
struct CustomerDrops {
  std::array<metrics::Counter, kRefusals> packets;
  metrics::Counter bytes;
};

/// Largest cost of one packet, s of the budget: that of a flow which can afford a packet in the
/// longest time between packets of the sender.
inline constexpr float kMaxCost = 4;

/// Added to the charge for what a packet paid too little, as a share of it. Links charge the lowest
/// price around the time of payment, so that a customer which never pays enough would pay less than
/// others where prices swing.
inline constexpr float kSurcharge = 0.25F;

/// Limits of debts and charges, in seconds of a customer's budget unless noted.
struct ChargeLimits {
  float tolerance = 0;  // share
  float burst = 0;      // of payments
  float promise_burst = 0;
  float unpriced_burst = 0;
  bool charge_unpriced = true;
};

/// Shared by a router's workers; each writes its own accounts and counters.
class Enforcement {
 public:
  /// For topology.routers[router], which must have an `enforcement`.
  static tl::expected<std::unique_ptr<Enforcement>, std::string> make(
      const config::Topology& topology, size_t router, unsigned workers, int socket);

  /// How customers of a running enforcement go on in another one.
  struct Succession {
    bool same = false;  // the same customers, in the same order
    const CustomerTable* table =
        nullptr;                    // the running one, if prefixes, links, groups are the same
    std::vector<uint32_t> changed;  // customers whose budget differs, if they are the same
    std::vector<uint32_t> from;     // by new customer: the old one, 0: none; if not the same
    std::vector<uint32_t> to;       // by old customer: the new one, 0: none; if not the same
  };
  /// The enforcement of a changed topology, for go_on_from() with the running one. Takes memory for
  /// accounts and tables only where `s` needs them.
  static tl::expected<std::unique_ptr<Enforcement>, std::string> make_successor(
      const config::Topology& topology, size_t router, unsigned workers, int socket,
      const Succession& s);
  /// Takes the accounts and counters of customers that go on; debts keep their length in time. Call
  /// while no worker polls. Does not allocate.
  void go_on_from(Enforcement& before, const Succession& s);
  /// By customer, s per dollar.
  [[nodiscard]] std::span<const float> per_dollar() const { return per_dollar_; }
  /// Adds the dropped packets of a customer, over all workers. While no worker polls.
  void add_drops(uint32_t customer, std::array<uint64_t, kRefusals>& packets,
                 uint64_t& bytes) const;

  [[nodiscard]] const CustomerTable& customers() const { return *table_; }
  [[nodiscard]] const ChargeLimits& limits() const { return limits_; }
  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(shards_.size()); }
  /// Whether packets from, or to, the router's link are those of customers.
  [[nodiscard]] bool edge(size_t link) const { return edge_[link] != 0; }
  /// Reads the charges of a protocol's packets; null: it has no money.
  [[nodiscard]] const ChargeReader* charges(uint8_t protocol) const { return charges_[protocol]; }
  /// Protocol::exchange_at.
  [[nodiscard]] uint8_t exchange_at(uint8_t protocol) const { return exchange_at_[protocol]; }
  /// The customer's money that is worth a dollar at links with groups, at least: if all customers
  /// of its group spent their budgets there.
  [[nodiscard]] float per_link_dollar(uint32_t customer) const { return inflation_[customer]; }

  [[nodiscard]] CustomerAccount& account(unsigned worker, uint32_t customer) {
    return shards_[worker]->accounts[customer];
  }
  /// A worker's accounts, by customer.
  [[nodiscard]] CustomerAccount* accounts(unsigned worker) { return &account(worker, 0); }
  [[nodiscard]] SharedAccount& shared(unsigned worker, uint32_t customer) {
    return shards_[worker]->shared[customer];
  }
  /// Whether other workers must know of withdrawals: publish() each, and let time pass for the
  /// shared account as for the account.
  [[nodiscard]] bool shares() const { return shards_.size() > 1; }
  /// Publishes seconds of the customer's budget that were added to one of its debts. Called by the
  /// worker's thread, like the functions below.
  void publish(unsigned worker, uint32_t customer, Bucket which, float seconds);
  /// Adds seconds of the customer's budget to one of its debts, and publishes them.
  void withdraw(unsigned worker, uint32_t customer, Bucket which, float seconds) {
    account(worker, customer).debt[static_cast<size_t>(which)] += seconds;
    if (shares()) [[unlikely]]
      publish(worker, customer, which, seconds);
  }
  /// Charges what a packet, which has passed, paid too little: dollars.
  void debit(unsigned worker, uint32_t customer, float dollars) {
    const float seconds = dollars * account(worker, customer).per_dollar * (1 + kSurcharge);
    withdraw(worker, customer, Bucket::kPaid, std::min(seconds, kMaxCost));
  }
  /// Counts a dropped packet of the customer.
  void count(unsigned worker, uint32_t customer, Refusal why, uint32_t bytes);

  /// Of one customer, summed over workers.
  struct Drops {
    uint32_t customer = 0;
    std::array<uint64_t, kRefusals> packets{};
    uint64_t bytes = 0;
    [[nodiscard]] uint64_t sum() const;
  };
  /// Of all customers with any, by number. Any thread.
  [[nodiscard]] std::vector<Drops> drops() const;

  /// B of memory for `customers` and `workers`, without the tables.
  static size_t memory(size_t customers, unsigned workers);

 private:
  static std::unique_ptr<Enforcement> make_limits(const config::Topology& topology, size_t router);
  void add_accounts(size_t customers, unsigned workers);
  void settle_units(const ChargeLimits& next);
  struct Shard {
    explicit Shard(size_t customers);
    LargeArray<CustomerAccount> accounts;
    LargeArray<SharedAccount> shared;
    LargeArray<CustomerDrops> drops;
    LargeArray<uint32_t> offenders;  // customers with drops, in order of their first one
    std::atomic<uint32_t> offender_count{0};
  };

  Enforcement() = default;
  [[nodiscard]] float unit(Bucket which) const;
  void add_others(unsigned worker, uint32_t customer, Bucket which);

  std::unique_ptr<const CustomerTable> table_;
  ChargeLimits limits_;
  std::vector<uint8_t> edge_;  // by link; 1: an edge
  std::array<const ChargeReader*, 256> charges_{};
  std::array<uint8_t, 256> exchange_at_{};
  std::vector<float> inflation_;   // by customer
  std::vector<float> per_dollar_;  // by customer, as CustomerAccount::per_dollar
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace turnpike::router
