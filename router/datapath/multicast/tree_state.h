// SPDX-License-Identifier: BSD-3-Clause
// A router's state of its trees: prices of recent packets, and the flows whose answers it joins.
#pragma once

#include <memory>
#include <vector>

#include "router/control/tables.h"
#include "router/datapath/multicast/answer_ring.h"
#include "router/datapath/multicast/tree_flow.h"

namespace turnpike::router {

/// One tree. The size is fixed: 32 KB per worker and 80 KB per branch for logs, and about 0.2 KB
/// per flow and branch.
class TreeState {
 public:
  TreeState(const TreeEntry& tree, unsigned workers);

  /// Written by worker `w` alone.
  [[nodiscard]] PriceLog& prices(unsigned w) { return *prices_[w]; }
  /// Price at which the packet arrived here, at whichever worker.
  [[nodiscard]] std::optional<float> find_price(const RequestId& id) const;

  // For the worker that joins answers:
  [[nodiscard]] std::span<AnswerLog> logs() { return logs_; }
  /// The flow's state; null: there is none.
  [[nodiscard]] TreeFlow* find(uint32_t flow);
  /// New state for a flow, in the place of one that has ended or been silent for longest; null: all
  /// places that it may take are in use.
  [[nodiscard]] TreeFlow* begin(uint32_t flow, Nanos now);

 private:
  static constexpr size_t kWays = 8;         // places that a flow may take
  static constexpr Nanos kForgotten = 10_s;  // silence after which another flow takes a place
  [[nodiscard]] std::span<TreeFlow> set_of(uint32_t flow);

  std::vector<std::unique_ptr<PriceLog>> prices_;  // by worker
  std::vector<AnswerLog> logs_;                    // by branch
  std::vector<TreeFlow> flows_;                    // sets of kWays
};

/// All trees that branch at or pass this router. Worker kOwner joins the answers of all flows,
/// which other workers hand to it: so a flow's state has one writer, whichever workers its answers
/// reach.
class MulticastState {
 public:
  static constexpr unsigned kOwner = 0;

  /// Null: no memory.
  static std::unique_ptr<MulticastState> make(const Tables& tables, unsigned workers, int socket);

  [[nodiscard]] TreeState& tree(size_t i) { return trees_[i]; }
  /// From `worker`, which is not the owner, to the owner.
  [[nodiscard]] AnswerRing& ring(unsigned worker) { return *rings_[worker]; }
  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(rings_.size()); }

 private:
  std::vector<TreeState> trees_;                    // as Tables::trees()
  std::vector<std::unique_ptr<AnswerRing>> rings_;  // by worker; the owner's is null
};

}  // namespace turnpike::router
