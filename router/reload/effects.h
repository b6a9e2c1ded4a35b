// SPDX-License-Identifier: BSD-3-Clause
// The effect of a changed key on a running router.
#pragma once

#include <string>
#include <vector>

#include "common/config/topology.h"
#include "router/reload/plan.h"

namespace turnpike::router {

/// One key that differs between two topologies.
struct Difference {
  std::vector<std::string> keys;
  bool added = false, removed = false;  // the whole entry: a link, a class, a customer
};

/// The meaning of a difference for the router.
struct Consequence {
  Effect effect = Effect::kLive;
  std::string note;
  bool routes = false, customers = false;  // see Plan
};

/// Finds consequences for running.routers[router].
class Effects {
 public:
  Effects(const config::Topology& running, const config::Topology& wanted, size_t router);
  [[nodiscard]] Consequence of(const Difference& d) const;

 private:
  [[nodiscard]] Consequence of_run(const Difference& d) const;
  [[nodiscard]] Consequence of_router(const Difference& d) const;
  [[nodiscard]] Consequence of_link(const Difference& d) const;
  [[nodiscard]] Consequence of_direction(const Difference& d, const config::Link& link,
                                         bool egress) const;
  [[nodiscard]] Consequence of_law(const Difference& d, const config::Link& link,
                                   size_t direction) const;
  [[nodiscard]] Consequence of_customers(const Difference& d) const;
  [[nodiscard]] Consequence of_gateway(const Difference& d) const;
  [[nodiscard]] bool is_router(const std::string& node) const;

  const config::Topology& running_;
  const config::Topology& wanted_;
  const config::Router& self_;
  bool has_customers_ = false, has_trees_ = false, is_gateway_ = false;
};

}  // namespace turnpike::router
