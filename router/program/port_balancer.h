// SPDX-License-Identifier: BSD-3-Clause
// Balances the redirection tables of a router's ports: what Rebalancer needs of the program.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/config/topology.h"
#include "common/dpdk/port.h"
#include "common/dpdk/rss_steering.h"
#include "common/time/clock.h"
#include "router/balance/rebalancer.h"
#include "router/program/ports.h"
#include "router/router.h"
#include "router/telemetry/figures.h"

namespace turnpike::router {

/// Used by the control thread. Outlives the router and the ports' queues.
class PortBalancer {
 public:
  /// Null: no bucket may move, because the file says so, or flows could be reordered: packets of
  /// one flow are in queues of several lcores at a gateway, at branches of trees, in delay lines,
  /// and where a line-rate link's port has fewer queues than there are lcores.
  static std::unique_ptr<PortBalancer> make(const config::Topology& topology, size_t node,
                                            const std::vector<LinkDevice>& devices,
                                            unsigned lcores);

  [[nodiscard]] RssSteering& steering() { return steering_; }
  /// Reads the ports' tables. `ports`: by link. Call once they have started, before lcores poll.
  void start(std::span<Port> ports, const std::vector<std::string>& links);
  /// Does what is due; returns the time of the next call. `router`: runs on the ports.
  Nanos poll(const TscClock& clock, std::span<const LcoreFigures> lcores, Router& router);
  [[nodiscard]] std::vector<std::string> take_lines() { return rebalancer_->take_lines(); }

  /// Buckets of each queue of the port at a link; none: they do not move.
  [[nodiscard]] std::optional<std::vector<unsigned>> buckets_of(size_t link) const;
  [[nodiscard]] const Rebalancer::Figures& figures() const { return rebalancer_->figures(); }

 private:
  PortBalancer(const config::Topology& topology, size_t node, unsigned lcores);
  [[nodiscard]] Rebalancer::Departure departure(Router& router) const;
  [[nodiscard]] Nanos time_of_rings(const Port& port, const config::Link& link) const;

  const config::Topology& topology_;
  size_t node_;
  uint16_t lcores_;
  std::span<Port> ports_;
  const TscClock* clock_ = nullptr;
  RssSteering steering_;
  std::vector<size_t> links_;               // of the rebalancer's ports
  std::unique_ptr<Rebalancer> rebalancer_;  // from start() on
};

}  // namespace turnpike::router
