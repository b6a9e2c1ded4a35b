// SPDX-License-Identifier: BSD-3-Clause
// Moves a thread into a named network namespace and back.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "router/linux/file.h"

namespace turnpike::router {

/// While it lives, the calling thread is in the namespace: interfaces are made, and sockets and
/// /proc/thread-self/net opened there. They stay in it afterwards.
class ScopedNetworkNamespace {
 public:
  /// `name`: one of `ip netns`; empty: stays where it is. The error has the command that helps.
  static tl::expected<ScopedNetworkNamespace, std::string> enter(const std::string& name);
  ScopedNetworkNamespace(ScopedNetworkNamespace&&) = default;
  ScopedNetworkNamespace& operator=(ScopedNetworkNamespace&&) = delete;
  /// Ends the process if the thread cannot return, since all that follows would act on the wrong
  /// interfaces.
  ~ScopedNetworkNamespace();

 private:
  explicit ScopedNetworkNamespace(File former) : former_(std::move(former)) {}
  File former_;  // none: did not move
};

/// Names of those of `ip netns`.
std::vector<std::string> network_namespaces();

}  // namespace turnpike::router
