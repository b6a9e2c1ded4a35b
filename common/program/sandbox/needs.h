// SPDX-License-Identifier: BSD-3-Clause
// The privileges that a program needs after its ports are open, by their kinds.
#pragma once

#include <span>

#include "common/config/topology.h"
#include "common/program/sandbox/capabilities.h"
#include "common/program/sandbox/syscall_filter.h"

namespace turnpike {

struct SandboxNeeds {
  Capabilities capabilities = 0;
  SyscallNeeds calls = {};
  bool abstract_sockets = false;  // connects to memif servers in the abstract namespace

  /// A router with `control: linux` asks the kernel for routes and neighbours and opens TAP
  /// interfaces.
  void add_linux_control();
};

/// The needs of ports with these attachments.
SandboxNeeds needs_of_ports(std::span<const config::Attachment* const> ports);

}  // namespace turnpike
