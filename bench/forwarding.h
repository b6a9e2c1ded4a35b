// SPDX-License-Identifier: BSD-3-Clause
// The router's own datapath between ports that never run dry.
#pragma once

#include <memory>
#include <vector>

#include "bench/refill_port.h"
#include "common/dpdk/pool.h"
#include "common/time/clock.h"
#include "router/datapath/probe/probe.h"
#include "router/router.h"

namespace turnpike::bench {

/// Packets to forward.
enum class Traffic : uint8_t {
  kIpv4,      // UDP to a host behind the router
  kIpv6,      // the same
  kFcp,       // FCP data packets over links without a law
  kPriced,    // FCP data packets over links with one
  kUnpriced,  // UDP over such links
  kTree,  // the same from the first link to the group of a tree with a branch on each other link
};

struct Load {
  Traffic traffic = Traffic::kIpv4;
  unsigned burst = 32;
  unsigned flows = 1;  // addresses and ports, per port
  // Different packets to send in turn, per port, at least one of each flow. Many of them exceed the
  // caches, regardless of the router.
  unsigned prepared = 1;
  unsigned routes = 0;     // /24 or /48 beside the links' own
  unsigned customers = 0;  // IPv4; whose budgets the router enforces, the flows' sources among them
  unsigned groups = 0;     // of these customers, which share each link; no budget is enforced then
  bool audit = false;      // links charge packets and audit their senders
  bool strict = false;     // sources are checked
  unsigned links = 2;      // each receives; its packets leave by the next
  uint16_t frame = 60;     // B without FCS; congestion headers may need more
  unsigned workers = 1;    // each with a queue at every port
  bool shaped = false;     // the links' packets are paced by the router
  bool fib = false;        // the routes are in tables that a control plane could change
  // Policy of a class that every second flow is in, as the file gives it; the others are in a
  // standard class. Null: no classes. Only with `shaped`.
  const char* policy = nullptr;
  unsigned capture = 0;  // one of as many packets is copied for a capture; 0: none
};

/// The router's workers, each polled by a thread of its own, at any rate.
class Forwarding {
 public:
  static constexpr unsigned kWarmUp = 2000;  // bursts, until the caches are warm

  explicit Forwarding(const Load& load);

  /// Moves one burst from every port through all stages; returns the number of packets that left.
  /// Advances time by the burst's duration at 99 Gbps, so that links of 100 Gbps are busy and no
  /// queue builds. Several workers must agree on the time: they use the processor's, and are slower
  /// than the links.
  uint64_t poll(unsigned worker = 0);
  /// Moves the same packets from port to port without a router: the cost of the harness.
  uint64_t poll_ports();

 private:
  static constexpr Nanos kBegin = 1_s;

  // State of one worker, on cache lines of its own.
  struct alignas(64) Side {
    Side(rte_mempool* pool, size_t buffers);
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
  std::vector<std::unique_ptr<router::Mirror>> mirrors_;  // by worker, if packets are captured
  std::vector<std::unique_ptr<router::Probe>> probes_;
  uint16_t frame_ = 0;  // B; `frame`, raised to fit the headers
};

}  // namespace turnpike::bench
