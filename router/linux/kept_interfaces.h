// SPDX-License-Identifier: BSD-3-Clause
// Interfaces of a router that outlive its process, so that routing daemons keep them, with their
// addresses, while the router restarts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "router/linux/interface_mark.h"
#include "router/linux/interface_requests.h"

namespace turnpike::router {

/// Those that one router, or any, has left behind in a network namespace.
class KeptInterfaces {
 public:
  /// `router`: empty: of any router. `network_namespace`: one of `ip netns`; empty: the caller's.
  static tl::expected<KeptInterfaces, std::string> find(const std::string& router,
                                                        const std::string& network_namespace);

  [[nodiscard]] bool has(const std::string& name) const { return marks_.contains(name); }
  [[nodiscard]] std::vector<std::string> names() const;

  /// Marks an interface as the router's and gives it the addresses of the mark. Of an interface
  /// that was kept, it changes only addresses that the file has not named before, or names no
  /// more: Linux owns the others.
  tl::expected<void, std::string> mark(unsigned index, const std::string& name,
                                       const InterfaceMark& wanted);
  /// Removes one of names(); the error: a process has it open.
  tl::expected<void, std::string> remove(const std::string& name);

 private:
  KeptInterfaces(InterfaceRequests requests, std::string network_namespace)
      : requests_(std::move(requests)), network_namespace_(std::move(network_namespace)) {}

  InterfaceRequests requests_;
  std::string network_namespace_;
  std::map<std::string, InterfaceMark> marks_;  // by the interface's name
};

}  // namespace turnpike::router
