// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/compare.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include <poll.h>

#include "router/linux/route_map.h"

namespace turnpike::router {
namespace {

constexpr int kPatienceMs = 2000;  // for the kernel's next part of a dump
constexpr int kAttempts = 5;       // of dumps that changes interrupt

/// Order of prefixes: IPv4 first, then by address and length.
bool in_order(const RouteDifference& a, const RouteDifference& b) {
  if (a.prefix.index() != b.prefix.index()) return a.prefix.index() < b.prefix.index();
  return std::visit(
      [&](const auto& x) {
        const auto& y = std::get<std::decay_t<decltype(x)>>(b.prefix);
        return std::tie(x.address, x.length) < std::tie(y.address, y.length);
      },
      a.prefix);
}

}  // namespace

tl::expected<KernelComparison, std::string> KernelComparison::open() {
  auto socket = NetlinkSocket::open({}, 0);
  if (!socket) return tl::unexpected(socket.error());
  return KernelComparison(std::move(*socket));
}

tl::expected<Dump::Progress, std::string> KernelComparison::read_all(KernelState& state) {
  Dump dump(socket_, state, sequence_);
  for (;;) {
    const Dump::Progress progress = dump.step(1);
    sequence_ = dump.sequence();
    if (progress == Dump::Progress::kFailed) {
      return tl::unexpected(std::string("netlink: dump: ") + std::strerror(dump.error()));
    }
    if (progress == Dump::Progress::kWaiting) {
      pollfd readable{.fd = socket_.fd(), .events = POLLIN, .revents = 0};
      if (::poll(&readable, 1, kPatienceMs) == 0) {
        return tl::unexpected(std::string("netlink: dump: the kernel sends nothing"));
      }
    } else if (progress != Dump::Progress::kRunning) {
      return progress;
    }
  }
}

tl::expected<RouteComparison, std::string> KernelComparison::compare(
    const Interfaces::Names& interfaces, const Distances& distances, const RouteEnumeration& held) {
  RouteMap kernel;
  KernelListener listener;
  KernelState state({kernel, listener, interfaces, distances});
  for (int attempt = 0;; ++attempt) {
    const auto result = read_all(state);
    if (!result) return tl::unexpected(result.error());
    if (*result == Dump::Progress::kComplete) break;
    if (attempt == kAttempts) {
      return tl::unexpected(std::string("netlink: changes interrupt every dump; try again"));
    }
  }
  state.commit();

  RouteComparison c{.kernel = kernel.routes.size(), .held = 0, .differences = {}};
  using Kind = RouteDifference::Kind;
  held([&](const Prefix& prefix, const Route& route) {
    ++c.held;
    const auto found = kernel.routes.find({prefix, route.distance, route.metric});
    if (found == kernel.routes.end()) {
      c.differences.push_back({Kind::kExtra, prefix, std::nullopt, route});
      return;
    }
    if (!same(found->second, route)) {
      c.differences.push_back({Kind::kDifferent, prefix, found->second, route});
    }
    kernel.routes.erase(found);
  });
  for (const auto& [key, route] : kernel.routes) {
    c.differences.push_back({Kind::kMissing, key.prefix, route, std::nullopt});
  }
  std::sort(c.differences.begin(), c.differences.end(), in_order);
  return c;
}

std::string to_text(const RouteDifference& difference, const Interfaces::Names& interfaces) {
  const auto name = [&](size_t link) {
    for (const auto& [interface, index] : interfaces) {
      if (index == link) return interface;
    }
    return "link " + std::to_string(link);
  };
  const std::string prefix = to_text(difference.prefix) + ": ";
  switch (difference.kind) {
    case RouteDifference::Kind::kMissing:
      return "missing " + prefix + to_text(*difference.kernel, name);
    case RouteDifference::Kind::kExtra:
      return "extra " + prefix + to_text(*difference.held, name);
    case RouteDifference::Kind::kDifferent:
      break;
  }
  return "different " + prefix + to_text(*difference.held, name) + ", in the kernel " +
         to_text(*difference.kernel, name);
}

}  // namespace turnpike::router
