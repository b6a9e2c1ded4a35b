// SPDX-License-Identifier: BSD-3-Clause
// The largest flows of a stream of packets, in bounded memory.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "router/telemetry/flow_key.h"

namespace turnpike::router {

/// Packets of one flow.
struct FlowPackets {
  double packets = 0, bytes = 0;
  double spend = 0;   // $
  uint16_t port = 0;  // DPDK's number of the port by which they came
};

struct FlowCount : FlowPackets {
  FlowKey key;
  double before = 0;  // B that it may have had before it entered the table, at most
};

/// Space-Saving (Metwally 2005) with bytes as weights: a flow with more than
/// total()/capacity bytes is in the table, and no count is too low by more than that. A new flow
/// takes the place of the smallest one.
class FlowTable {
 public:
  explicit FlowTable(size_t capacity) : capacity_(capacity) { heap_.reserve(capacity); }

  /// Counts packets of one flow. Takes the logarithm of the capacity, at most.
  void add(const FlowKey& key, const FlowPackets& more);
  void clear();

  /// In no order.
  [[nodiscard]] const std::vector<FlowCount>& flows() const { return heap_; }
  /// B of all packets.
  [[nodiscard]] double total() const { return total_; }

 private:
  static double size_of(const FlowCount& f) { return f.bytes + f.before; }
  void exchange(size_t a, size_t b);
  void sink(size_t at);
  void rise(size_t at);

  size_t capacity_;
  double total_ = 0;
  std::vector<FlowCount> heap_;  // the smallest first
  std::unordered_map<FlowKey, size_t, FlowKeyHash> places_;
};

}  // namespace turnpike::router
