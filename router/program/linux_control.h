// SPDX-License-Identifier: BSD-3-Clause
// Linux as a router's control plane: keeps its tables equal to the kernel's.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "router/linux/compare.h"
#include "router/linux/kernel_reader.h"
#include "router/linux/linux_interfaces.h"
#include "router/router.h"
#include "router/telemetry/figures.h"

namespace turnpike::router {

/// Used by the control thread. The kernel's routes and neighbours go to the router's RouteTable,
/// and neighbours that packets wait for are asked of the kernel.
class LinuxControl : private KernelListener {
 public:
  /// For topology.routers[node], whose interfaces exist. `router` and `interfaces` must outlive it.
  /// `netlink_buffer`: see KernelReader::Limits::receive_buffer. The error says why the kernel's
  /// state cannot be read.
  static tl::expected<std::unique_ptr<LinuxControl>, std::string> make(
      const config::Topology& topology, size_t node, Router& router, LinuxInterfaces& interfaces,
      size_t netlink_buffer);

  /// Reads the kernel's messages and the workers' requests. Returns when to call again if none of
  /// fds() becomes readable before.
  Nanos poll(Nanos now);
  [[nodiscard]] std::array<int, 2> fds() const { return reader_->fds(); }
  /// Lines for the log since the last call: resynchronisations, changes of interfaces.
  std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }

  /// Compares the tables with the kernel's routes by a dump, about 0.2 s for 100,000 routes.
  [[nodiscard]] tl::expected<RouteComparison, std::string> compare() const;
  [[nodiscard]] NetlinkFigures figures(Nanos now) const;
  [[nodiscard]] const KernelReader& reader() const { return *reader_; }
  [[nodiscard]] const Interfaces::Names& names() const { return names_; }

 private:
  LinuxControl(Router& router, LinuxInterfaces& interfaces)
      : router_(router), interfaces_(interfaces) {}
  /// Asks for the gateways of routes before packets need them: those that come meanwhile are more
  /// than may wait.
  void resolve_gateways(Nanos now);
  void link_changed(size_t link, const LinkStatus& status) override;
  void resynchronised(const Resync& resync) override;

  Router& router_;
  LinuxInterfaces& interfaces_;
  Interfaces::Names names_;
  std::vector<uint16_t> mtus_;  // of the ports, by link: no packet may be larger
  std::unique_ptr<KernelReader> reader_;
  Nanos settled_{0};  // last poll after which nothing waited
  std::unique_ptr<KernelComparison> comparison_;
  std::vector<std::string> lines_;
  uint64_t seen_commits_ = 0;
  Nanos next_gateways_{0};
};

}  // namespace turnpike::router
