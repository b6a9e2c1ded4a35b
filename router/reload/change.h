// SPDX-License-Identifier: BSD-3-Clause
// The parts of a changed configuration, between Router::prepare() and Router::apply().
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "router/control/file_routes.h"
#include "router/datapath/link/link_shaper.h"
#include "router/router.h"

namespace turnpike::router {

/// Before apply() these are new parts; after it, those that were replaced.
struct Router::Change {
  struct Link {
    std::unique_ptr<EgressLink> made;  // with rings only if `shaper` is set
    // Of the queues, if they change: null if classes and rings stay as they are.
    std::unique_ptr<LinkShaper> shaper;
    unsigned kept = 0;  // first classes that go on
    bool moved =
        false;  // their packets are exchanged into the new rings, else drained from the old
    std::vector<std::unique_ptr<LinkRing>> empty_rings;  // old ones to free
  };

  std::unique_ptr<const Tables> tables;  // null: they stay
  FileRouteChanges routes;               // of a router whose control plane changes routes
  std::vector<Link> links;
  std::vector<uint16_t> groups_from;  // see LinkLaw::take_settings()
  bool customers = false;             // the members below apply
  bool enforced = false;              // budgets are enforced before and after
  std::unique_ptr<Enforcement> enforcement;
  std::unique_ptr<const CustomerTable> table;
  Enforcement::Succession succession;
  std::vector<uint32_t> gone;  // customers of the running enforcement that end
  std::vector<config::Customer> customer_list;
  std::vector<Worker::Parts> workers;
};

}  // namespace turnpike::router
