// SPDX-License-Identifier: BSD-3-Clause
// The router's own datapath between ports that never run dry.
#pragma once

#include <memory>
#include <vector>

#include "bench/refill_port.h"
#include "common/dpdk/pool.h"
#include "common/time/clock.h"
#include "router/router.h"

namespace turnpike::bench {

/// What is forwarded.
enum class Traffic : uint8_t {
  kIpv4,    // UDP that is nobody's
  kIpv6,    // the same
  kFcp,     // FCP data packets over links without a law
  kPriced,  // FCP data packets over links with one
};

struct Load {
  Traffic traffic = Traffic::kIpv4;
  unsigned burst = 32;
  unsigned flows = 1;  // addresses and ports, per port
  // Packets to be sent over and over, per port, at least one of each flow. Many of them do not fit
  // the caches, whatever the router makes of them.
  unsigned prepared = 1;
  unsigned routes = 0;   // /24 or /48 beside the links' own
  unsigned links = 2;    // each receives; what one receives leaves by the next
  uint16_t frame = 60;   // B without FCS; congestion headers may need more
  unsigned workers = 1;  // each with a queue at every port
};

/// The router's workers, to be polled as often as you like, each by a thread of its own.
class Forwarding {
 public:
  static constexpr unsigned kWarmUp = 2000;  // bursts, until caches hold what they will

  explicit Forwarding(const Load& load);

  /// One burst from every port through all stages; returns how many packets left. Time goes on by
  /// what the burst takes at 99 Gbps, so links of 100 are busy and no queue builds. Several workers
  /// must agree on the time: they go by the processor's, and are slower than the links.
  uint64_t poll(unsigned worker = 0);
  /// The same packets from port to port without a router between: what the harness costs.
  uint64_t poll_ports();

 private:
  static constexpr Nanos kBegin = 1_s;

  // What one worker alone touches.
  struct alignas(64) Side {
    Side(rte_mempool* pool, unsigned links);
    [[nodiscard]] uint64_t sent() const;

    BufferStack buffers;
    std::vector<std::unique_ptr<RefillPort>> ports;  // by link
    Nanos now = kBegin;
  };

  Nanos step(Side& side) const;

  Load load_;
  TscClock clock_;
  config::Topology topology_;
  Pool pool_;
  std::vector<std::unique_ptr<Side>> sides_;  // by worker
  std::unique_ptr<router::Router> router_;
  uint16_t frame_ = 0;  // B, as it became
};

}  // namespace turnpike::bench
