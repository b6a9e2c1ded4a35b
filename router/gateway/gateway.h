// SPDX-License-Identifier: BSD-3-Clause
// A gateway: carries customers' packets to other gateways in priced flows, and releases theirs.
//
// Example:
//
//     #include "common/config/load.h"
//     #include "common/dpdk/pool.h"
//
//     const auto topology = config::load_file("configs/gateway/two-sites.yaml");
//     const auto pool = Pool::create("gateway", {});
//     if (!topology || !pool) return;
//     auto west = gateway::Gateway::make(*topology, 0, {.pool = pool->get()});
//     if (!west) return;  // west.error() says why
//     // router.worker(0).set_tunnels(&(*west)->shard(0)): the router's packets pass it from then
//     // on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "router/gateway/parts.h"
#include "router/gateway/shard.h"

namespace turnpike::gateway {

/// All of a gateway: one shard for each worker of its router. A customer, with all of its tunnels,
/// belongs to one shard. `customer`: an index into Topology::customers.
class Gateway {
 public:
  /// The keys of a gateway, ready for use; by lcore.
  using Keys = std::vector<std::unique_ptr<KeyRing>>;

  /// `index`: into Topology::gateways. The topology and the pool outlive the gateway.
  static tl::expected<std::unique_ptr<Gateway>, std::string> make(const config::Topology& topology,
                                                                  size_t index,
                                                                  const GatewayOptions& options);

  /// The shard that worker `lcore` of the router polls.
  [[nodiscard]] Shard& shard(unsigned lcore) { return *shards_[lcore]; }
  [[nodiscard]] unsigned lcores() const { return static_cast<unsigned>(shards_.size()); }
  /// Whether other lcores have handed packets to this one that it has not taken. Any thread.
  [[nodiscard]] bool handed(unsigned lcore) const { return parts_.hand_over->waiting(lcore); }

  /// The router ends: drops what waits for tunnels, and returns the number of these packets. Call
  /// when the workers have stopped.
  uint32_t end();

  /// The customers have the budgets and ceilings of `wanted` from now on, which has the same
  /// customers. Call while the workers are held between two polls. Does not allocate.
  void take_customers(const config::Topology& wanted);

  /// The keys of `wanted`, for take_keys(); empty: tunnels are not sealed. Any thread.
  [[nodiscard]] tl::expected<Keys, std::string> prepare_keys(const config::Topology& wanted) const;
  /// Seals and opens with these keys from now on, and leaves the ones until now in their place.
  /// Call while the workers are held between two polls. Does not allocate.
  void take_keys(Keys& keys);

  /// From now on a customer's packets go outside of tunnels, without a price, or again through
  /// them. Packets that wait go through their tunnel in any case. Any thread.
  void bypass(size_t customer, bool on) { shard_of(customer).bypass(place_of(customer), on); }
  [[nodiscard]] bool bypassed(size_t customer) const {
    return shard_of(customer).bypassed(place_of(customer));
  }
  /// The index of a customer. Any thread.
  [[nodiscard]] std::optional<size_t> find_customer(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Most that its tunnels send, B/s; infinite: no bound. Any thread.
  [[nodiscard]] double ceiling(size_t customer) const {
    return shard_of(customer).ceiling(place_of(customer));
  }
  /// A customer's flows.
  [[nodiscard]] const sender::HostTotals& customer(size_t customer) const {
    return shard_of(customer).customer(place_of(customer));
  }
  [[nodiscard]] const CustomerTraffic& traffic(size_t customer) const {
    return shard_of(customer).traffic(place_of(customer));
  }
  /// A customer's tunnels: by class, then by peer.
  [[nodiscard]] std::span<const std::unique_ptr<Tunnel>> tunnels(size_t customer) const {
    return shard_of(customer).tunnels(place_of(customer));
  }

  /// A counter of all lcores. Any thread.
  [[nodiscard]] uint64_t total(metrics::Counter GatewayTotals::*counter) const;
  /// Likewise of packets of tunnels that have come, and those that were refused.
  [[nodiscard]] uint64_t received(metrics::Counter sender::HostTotals::*counter) const;
  /// Whether a peer does not answer, as far as any lcore knows. Any thread.
  [[nodiscard]] bool silent(size_t peer) const;
  /// Waiting times of datagrams, ns. Any thread.
  [[nodiscard]] metrics::Histogram waits() const;
  /// Whether packets of tunnels are encrypted.
  [[nodiscard]] bool sealed() const { return shards_.front()->sealed(); }

  /// The topology that the gateway was made from.
  [[nodiscard]] const config::Topology& topology() const { return parts_.topology; }
  [[nodiscard]] const config::Gateway& configuration() const { return parts_.gateway; }

 private:
  explicit Gateway(SharedParts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] Shard& shard_of(size_t customer) const {
    return *shards_[parts_.lcore_of(customer)];
  }
  [[nodiscard]] size_t place_of(size_t customer) const { return parts_.place_of(customer); }

  SharedParts parts_;
  std::vector<std::unique_ptr<Shard>> shards_;           // by lcore
  std::unordered_map<std::string_view, size_t> places_;  // of customers in the topology, by name
};

}  // namespace turnpike::gateway
