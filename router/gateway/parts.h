// SPDX-License-Identifier: BSD-3-Clause
// Options of a gateway, and the parts that its lcores share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/config/topology.h"
#include "router/control/customer_table.h"
#include "router/gateway/hand_over.h"
#include "router/gateway/peer_answers.h"
#include "router/gateway/peers.h"
#include "sender/connection/siphash.h"
#include "sender/connection/source.h"

namespace turnpike::gateway {

struct GatewayOptions {
  rte_mempool* pool = nullptr;
  unsigned lcores = 1;  // workers of its router
  uint64_t seed = 1;
  // Of ids, tokens and nonces; none: made from the seed, which is secure in no network. With keys
  // that another process uses, too, it must be random, so that no nonce is used twice.
  std::optional<sender::SecretKey> secret = {};
  unsigned tick_shift = 0;                        // timers fire on ticks of 2^tick_shift ns
  bool populated = true;                          // touch the tables' memory at construction
  int socket = -1;                                // NUMA node of tables; -1: any
  router::FibKind fib = router::FibKind::kTable;  // of the prefixes behind peers
};

/// Parts that all lcores of a gateway use.
struct SharedParts {
  const config::Topology& topology;
  const config::Gateway& gateway;
  GatewayOptions options;
  std::vector<sender::FlowClass> kinds;  // by class; for each, to IPv4 and to IPv6 peers
  Peers peers;                           // as they are at the start
  std::unique_ptr<const router::CustomerTable> customers;
  std::unique_ptr<HandOver> hand_over;
  std::unique_ptr<PeerAnswers> answers;

  /// The lcore of a customer, and its place among the customers of that lcore.
  [[nodiscard]] unsigned lcore_of(size_t customer) const {
    return static_cast<unsigned>(customer % options.lcores);
  }
  [[nodiscard]] size_t place_of(size_t customer) const { return customer / options.lcores; }
};

}  // namespace turnpike::gateway
