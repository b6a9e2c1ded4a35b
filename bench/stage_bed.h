// SPDX-License-Identifier: BSD-3-Clause
// A bed for single stages of the datapath: a topology, its tables, links and a burst.
#pragma once

#include <memory>
#include <vector>

#include "common/dpdk/pool.h"
#include "router/datapath/worker_context.h"

namespace turnpike::bench {

/// One router between `links` hosts at 1 Tbps, drained at line rate under `law`.
config::Topology star(unsigned links, const char* law);

/// A worker's context without ports, and a burst whose packets arrived on the first link.
class StageBed {
 public:
  enum class Packets : uint8_t { kIpv4, kIpv6, kFcp };

  /// `law` of every link; all packets of the burst are for the second link's host.
  StageBed(unsigned links, const char* law, Packets kind);
  ~StageBed();
  StageBed(const StageBed&) = delete;
  StageBed& operator=(const StageBed&) = delete;

  /// The burst as rx leaves it, `count` packets at `now`.
  void receive(unsigned count, Nanos now);

  router::WorkerContext context;
  router::Burst burst;

 private:
  void fill(rte_mbuf& m, const std::vector<uint8_t>& frame);

  config::Topology topology_;
  Pool pool_;
  std::unique_ptr<const router::Tables> tables_;
  std::vector<std::unique_ptr<router::EgressLink>> links_;
  Nanos idle_until_{0};  // of all queues, which are not polled
  router::WorkerCounters counters_;
};

}  // namespace turnpike::bench
