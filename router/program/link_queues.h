// SPDX-License-Identifier: BSD-3-Clause
// The queue pairs of a router's links: those of a link's port, or those of its VLAN on the port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/config/topology.h"
#include "common/dpdk/port.h"
#include "router/datapath/vlan/vlan_trunk.h"
#include "router/program/ports.h"

namespace turnpike::router {

/// Has a VlanTrunk for each queue of a port that carries VLANs.
class LinkQueues {
 public:
  /// `devices`: by link of topology.routers[node]; `ports`: as they name them, configured. The
  /// ports must outlive the object.
  LinkQueues(const config::Topology& topology, size_t node, std::span<const LinkDevice> devices,
             std::span<Port> ports);

  [[nodiscard]] QueuePair& at(size_t link, uint16_t queue);
  /// Frames that a port has dropped, see VlanTrunk::without_room(). Any thread.
  [[nodiscard]] uint64_t without_room(size_t port) const;

  /// The link of a received frame by rte_mbuf::port; none: that is a DPDK port.
  static std::optional<size_t> link_of(uint16_t mbuf_port);

 private:
  struct Place {
    size_t port = 0;
    size_t index = 0;  // among the links of the port
  };
  std::span<Port> ports_;
  std::vector<Place> places_;                                      // by link
  std::vector<std::vector<std::unique_ptr<VlanTrunk>>> by_queue_;  // by port; none: no VLANs
};

}  // namespace turnpike::router
