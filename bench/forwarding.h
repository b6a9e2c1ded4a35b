// SPDX-License-Identifier: BSD-3-Clause
// The router's own datapath between ports that never run dry.
#pragma once

#include <memory>
#include <vector>

#include "bench/refill_port.h"
#include "common/dpdk/pool.h"
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
  unsigned flows = 1;   // addresses and ports, per port
  unsigned routes = 0;  // /24 or /48 beside the links' own
  unsigned links = 2;   // each receives; what one receives leaves by the next
  uint16_t frame = 60;  // B without FCS; congestion headers may need more
};

/// One worker that is polled as often as you like.
class Forwarding {
 public:
  explicit Forwarding(const Load& load);

  /// One burst from every port through all stages; returns how many packets left. Time goes on by
  /// what the burst takes at 99 Gbps, so links of 100 are busy and no queue builds.
  uint64_t poll();
  /// The same packets from port to port without a router between: what the harness costs.
  uint64_t poll_ports();

  [[nodiscard]] uint64_t sent() const;

 private:
  static constexpr Nanos kBegin = 1_s;

  Nanos step();

  Load load_;
  config::Topology topology_;
  Pool pool_;
  BufferStack buffers_;
  std::vector<std::unique_ptr<RefillPort>> ports_;
  std::unique_ptr<router::Router> router_;
  uint16_t frame_ = 0;  // B, as it became
  Nanos now_ = kBegin;
};

}  // namespace turnpike::bench
