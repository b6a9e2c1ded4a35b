// SPDX-License-Identifier: BSD-3-Clause
// A router's interfaces in Linux, with the thread that serves them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/units/units.h"
#include "router/linux/kept_interfaces.h"
#include "router/linux/multicast_groups.h"
#include "router/linux/punt_thread.h"
#include "router/linux/tap.h"
#include "router/router.h"

namespace turnpike::router {

/// Used by the control thread.
class LinuxInterfaces {
 public:
  /// Makes the TAP interfaces of topology.routers[node], without carrier, with the file's addresses
  /// unless the file says otherwise; takes over those that an earlier process kept. Null: Linux is
  /// not this router's control plane. The error has the interface, the reason, and what mends it.
  static tl::expected<std::unique_ptr<LinuxInterfaces>, std::string> make(
      const config::Topology& topology, size_t node);

  /// Removes the interfaces that earlier processes of that router kept, and returns their names.
  static tl::expected<std::vector<std::string>, std::string> remove(
      const config::Topology& topology, size_t node);

  struct Removed {
    std::vector<std::string> names, errors;
  };
  /// Removes what earlier processes of any router kept in these network namespaces of `ip netns`;
  /// an empty name: the caller's. An error for each interface that a process has open, and for each
  /// namespace that cannot be entered.
  static Removed remove_all(const std::vector<std::string>& namespaces);

  /// Lets the interfaces outlive the process, and removes those kept before that the file names no
  /// more.
  tl::expected<void, std::string> keep();
  /// Starts the punt thread. `pool`: for frames from Linux. Both must live until stop().
  tl::expected<void, std::string> start(Router& router, rte_mempool* pool);
  /// Takes no more frames from Linux.
  void stop_reading();
  /// Call when the workers have ended: writes what they left for Linux and ends the thread.
  void stop() { thread_.reset(); }

  /// Carrier follows the port of a link, by the router's numbering.
  void follow(size_t link, bool up);
  using Resolve = std::function<void(const NeighbourRequest&)>;
  /// Call every 10 to 20 ms: gives the workers the groups that Linux joins, within a second, and
  /// calls `resolve`, if there is one, for each neighbour that packets wait for. Returns a line for
  /// each interface that has been deleted since.
  std::vector<std::string> poll(Nanos now, const Resolve& resolve = {});

  [[nodiscard]] const std::vector<Tap>& taps() const { return taps_; }

 private:
  LinuxInterfaces(std::vector<Tap> taps, MulticastGroups groups, KeptInterfaces kept)
      : taps_(std::move(taps)), groups_(std::move(groups)), kept_(std::move(kept)) {}

  std::vector<Tap> taps_;  // by link
  MulticastGroups groups_;
  KeptInterfaces kept_;
  PuntPath* path_ = nullptr;
  std::unique_ptr<PuntThread> thread_;
  Nanos next_groups_{0};
  uint64_t reported_ = 0;  // set of links whose interfaces are gone
};

}  // namespace turnpike::router
