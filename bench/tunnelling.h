// SPDX-License-Identifier: BSD-3-Clause
// A router that is a gateway, with many customers, whose peer acknowledges.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/answer_port.h"
#include "bench/refill_port.h"
#include "common/dpdk/pool.h"
#include "router/gateway/gateway.h"
#include "router/router.h"

namespace turnpike::bench {

/// Customers' UDP from one link enters tunnels to one peer on the core link.
class Tunnelling {
 public:
  static constexpr unsigned kActive = 10'000;  // of the customers, at most
  static constexpr unsigned kBurst = 32;       // packets that arrive from one poll to the next
  static constexpr double kPps = 4e6;          // of all customers together
  static constexpr uint16_t kFrame = 1000;     // B without FCS: too large to share a packet

  struct Options {
    unsigned customers = 0;
    bool sealed = false;  // tunnels are encrypted
    unsigned lcores = 1;  // of the router; this thread polls them in turn
    bool handed = false;  // no lcore receives packets of its own customers
  };
  /// The customers that are active have their tunnels open.
  explicit Tunnelling(const Options& options);

  /// Moves kBurst packets into tunnels, and what is due out of them; takes the answers that have
  /// come. Returns the number of packets that left.
  uint64_t poll();

 private:
  uint64_t step();
  /// B that wait for all tunnels.
  [[nodiscard]] uint64_t waiting() const;

  config::Topology topology_;
  Pool pool_;
  BufferStack buffers_;
  std::vector<std::unique_ptr<RefillPort>> inner_;  // by lcore
  std::vector<std::unique_ptr<AnswerPort>> core_;   // likewise
  std::unique_ptr<router::Router> router_;
  std::unique_ptr<gateway::Gateway> gateway_;
  Nanos now_ = 1_s;
  size_t next_ = 0;  // lcore that step() polls
};

}  // namespace turnpike::bench
