// SPDX-License-Identifier: BSD-3-Clause
// Compares the routes of the forwarding tables with the kernel's, by a dump of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "router/linux/dump.h"
#include "router/linux/interfaces.h"
#include "router/linux/netlink_socket.h"
#include "router/linux/resolve_route.h"

namespace turnpike::router {

struct RouteDifference {
  enum class Kind : uint8_t { kMissing, kExtra, kDifferent };
  Kind kind = Kind::kMissing;
  Prefix prefix;
  std::optional<Route> kernel;  // as it should be held; none: kExtra
  std::optional<Route> held;    // none: kMissing
};

struct RouteComparison {
  uint64_t kernel = 0;  // routes that should be held
  uint64_t held = 0;
  std::vector<RouteDifference> differences;  // by prefix
};

/// Calls its argument for each route that is held of those which came from the kernel.
using RouteEnumeration =
    std::function<void(const std::function<void(const Prefix&, const Route&)>&)>;

/// Reads the kernel's state by a socket of its own, which stays in the network namespace in which
/// it was opened.
class KernelComparison {
 public:
  static tl::expected<KernelComparison, std::string> open();

  /// Waits for the kernel: about 0.2 s for 100,000 routes. Changes at this time appear as
  /// differences: to rule them out, let the reader poll until it is settled and compare again.
  tl::expected<RouteComparison, std::string> compare(const Interfaces::Names& interfaces,
                                                     const Distances& distances,
                                                     const RouteEnumeration& held);

 private:
  explicit KernelComparison(NetlinkSocket socket) : socket_(std::move(socket)) {}
  tl::expected<Dump::Progress, std::string> read_all(KernelState& state);

  NetlinkSocket socket_;
  uint32_t sequence_ = 0;
};

/// "missing 10.0.0.0/8: forward distance 20 metric 5 via 10.1.0.1 dev port0 weight 1", ...
std::string to_text(const RouteDifference& difference, const Interfaces::Names& interfaces);

}  // namespace turnpike::router
