// SPDX-License-Identifier: BSD-3-Clause
// One worker's trace: follows packets that match a filter through the stages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "common/metrics/counter.h"
#include "router/datapath/burst.h"
#include "router/datapath/link/link_queue.h"
#include "router/datapath/probe/packet_filter.h"
#include "router/datapath/probe/slot_ring.h"
#include "router/datapath/probe/trace_record.h"

namespace turnpike::router {

/// Place of a trace's id in packet buffers: DPDK's dynamic flag and field, the same for all
/// workers, because one may queue a packet and another send it.
struct TraceMark {
  uint64_t flag = 0;
  int offset = -1;

  /// Registers both with DPDK, once. std::nullopt: no flag is left.
  static std::optional<TraceMark> make();
};

/// Written by its worker; take() by the control thread. While a worker has no trace its stages are
/// compiled without these calls.
class Trace {
 public:
  struct Options {
    unsigned worker = 0;
    uint32_t packets = 10;                 // ends itself after as many
    std::optional<unsigned> link = {};     // of arrival; none: any
    const PacketFilter* filter = nullptr;  // outlives the trace; null: every packet
    TraceMark mark = {};
  };
  explicit Trace(const Options& options);

  /// Chooses packets of a parsed burst. Whether there are any: call the following ones then.
  bool choose(const Burst& burst);
  /// Notes the chosen packets that passed a stage, and those that it dropped.
  void after(TraceStage stage, const Burst& burst, uint32_t members = ~uint32_t{0});
  /// These packets wait in tunnels' queues now: their path through the stages ends.
  void entered_tunnels(uint32_t members);
  /// Before the law sees a group of packets, after it, and once they are in the queue.
  void before_price(const Burst& burst, uint32_t members);
  void after_price(Burst& burst, const PricedGroup& group, const LinkQueue& queue);
  void after_enqueue(const Burst& burst, uint32_t members);
  /// Publishes the records of the burst, before its dropped packets are freed.
  void finish(const Burst& burst);

  /// Looks for chosen packets among those that a port may take, and removes their marks; left()
  /// records those that it took, and marks the others again.
  void leaving(std::span<rte_mbuf* const> packets);
  void left(size_t taken, unsigned link, Nanos now);
  /// Records that a packet was dropped after it was queued.
  void dropped_later(const rte_mbuf& m, unsigned link, DropReason why, Nanos now);

  /// Reads the next record into `out`; false: none. Any one thread.
  bool take(TraceRecord& out);
  /// Records lost because the ring was full.
  [[nodiscard]] uint64_t lost() const { return lost_.read(); }

 private:
  static constexpr size_t kMaxLeaving = 128;

  [[nodiscard]] bool picks(const rte_mbuf& m) const;
  void start(unsigned i, const Burst& burst);
  [[nodiscard]] uint32_t& id_of(rte_mbuf& m) const;
  void put(const TraceRecord& record);

  Options options_;
  uint32_t left_;  // packets to choose
  uint32_t next_id_ = 0;
  uint32_t chosen_ = 0;                      // places in the burst
  uint32_t open_ = 0;                        // of them, those still in the stages
  std::array<TraceRecord, kBurst> records_;  // by place in the burst
  struct Leaving {
    rte_mbuf* packet = nullptr;
    size_t place = 0;
    uint32_t id = 0;
  };
  std::array<Leaving, kMaxLeaving> leaving_;
  size_t leaving_count_ = 0;
  metrics::Counter lost_;
  SlotRing ring_;
};

}  // namespace turnpike::router
