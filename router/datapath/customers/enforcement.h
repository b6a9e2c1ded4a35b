// SPDX-License-Identifier: BSD-3-Clause
// State of an edge router's customers: an account per customer and lcore, and counters of drops.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include <tl/expected.hpp>

#include "common/dpdk/large_array.h"
#include "common/metrics/counter.h"
#include "common/protocols/registry.h"
#include "router/control/customer_table.h"
#include "router/datapath/customers/account.h"
#include "router/datapath/customers/refusal.h"

namespace turnpike::router {

/// One lcore's counters of one customer. Only dropped packets touch them.
struct CustomerDrops {
  std::array<metrics::Counter, kRefusals> packets;
  metrics::Counter bytes;
};

/// Limits of debts and charges, in seconds of a customer's budget unless noted.
struct ChargeLimits {
  float tolerance = 0.05F;  // share
  float burst = 0.25F;
  float unpriced_burst = 0.02F;
  bool charge_unpriced = true;
};

/// Shared by a router's workers; each writes its own accounts and counters.
class Enforcement {
 public:
  /// For topology.routers[router], which must have an `enforcement`.
  static tl::expected<std::unique_ptr<Enforcement>, std::string> make(
      const config::Topology& topology, size_t router, unsigned workers, int socket);

  [[nodiscard]] const CustomerTable& customers() const { return *table_; }
  [[nodiscard]] const ChargeLimits& limits() const { return limits_; }
  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(shards_.size()); }
  /// Whether packets from, or to, the router's link are those of customers.
  [[nodiscard]] bool edge(size_t link) const { return edge_[link]; }
  /// The function that reads the charge of a protocol's packets; null: it has no money.
  [[nodiscard]] ChargeOf charge_of(uint8_t protocol) const { return charges_[protocol]; }
  /// Protocol::exchange_at.
  [[nodiscard]] uint8_t exchange_at(uint8_t protocol) const { return exchange_at_[protocol]; }
  /// The customer's money that is worth a dollar at links with groups, at least: if all customers
  /// of its group spent their budgets there.
  [[nodiscard]] float per_link_dollar(uint32_t customer) const { return inflation_[customer]; }

  [[nodiscard]] CustomerAccount& account(unsigned worker, uint32_t customer) {
    return shards_[worker]->accounts[customer];
  }
  /// Counts a dropped packet of the customer. Called by the worker's thread.
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
  struct Shard {
    explicit Shard(size_t customers);
    LargeArray<CustomerAccount> accounts;
    LargeArray<CustomerDrops> drops;
    LargeArray<uint32_t> offenders;  // customers with drops, in order of their first one
    std::atomic<uint32_t> offender_count{0};
  };

  Enforcement() = default;

  std::unique_ptr<const CustomerTable> table_;
  ChargeLimits limits_;
  std::vector<bool> edge_;
  std::array<ChargeOf, 256> charges_{};
  std::array<uint8_t, 256> exchange_at_{};
  std::vector<float> inflation_;  // by customer
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace turnpike::router
