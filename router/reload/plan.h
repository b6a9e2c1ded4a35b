// SPDX-License-Identifier: BSD-3-Clause
// The plan of a reload: a readable difference of two topologies for a running router, with the
// effect of each change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/config/topology.h"

namespace turnpike::router {

/// How a running router takes a change.
enum class Effect : uint8_t {
  kLive,       // without loss: queues, prices, sums, accounts and counters are kept
  kRestarts,   // without loss of packets, but some state begins anew: see the note
  kNextStart,  // nothing changes before the next start of the program
  kElsewhere,  // not this router's: another node's, or the lab's
  kRefused,    // not while the router runs
};

struct PlannedChange {
  std::string path;      // "links.bottleneck.rate"
  std::string from, to;  // as a file writes them; "none": not there
  Effect effect = Effect::kLive;
  std::string note;  // what is kept, what is interrupted, why it is refused
};

struct Plan {
  std::vector<PlannedChange> changes;  // in the order of the file
  bool routes = false;                 // tables of routes, neighbours or addresses are built anew
  bool customers = false;              // customers, groups or their enforcement change

  [[nodiscard]] bool empty() const { return changes.empty(); }
  /// Whether anything changes at this router.
  [[nodiscard]] bool applies() const;
  /// All reasons why the plan cannot be applied, a line each; empty: it can.
  [[nodiscard]] std::string refusal() const;
  /// For people: a line per change with its effect below.
  [[nodiscard]] std::string text() const;
};

/// {"changes": [{"path", "from", "to", "effect", "note"}], "refused": bool}.
nlohmann::json plan_json(const Plan& plan);

/// Compares topologies for running.routers[router], which `wanted` must have by name. Reads every
/// key, see leaves_of().
Plan plan(const config::Topology& running, const config::Topology& wanted, size_t router);

}  // namespace turnpike::router
