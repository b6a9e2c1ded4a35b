// SPDX-License-Identifier: BSD-3-Clause
// The system calls that a running router or sender may make (seccomp(2)).
//
// The filter lists the calls that are allowed. A call that is not on the list fails with EPERM and
// is counted: DPDK's drivers have paths that no test reaches, and a router whose statistics call
// failed is better than none, while an attacker gains as little by EPERM as by the end of the
// process. Calls through another architecture's entry (i386, x32) end the process: no code of ours
// makes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace turnpike {

/// Calls beyond those that every program needs, by the ports that it has.
struct SyscallNeeds {
  bool netlink = false;    // netlink sockets: routes and links of the kernel, XDP programs
  bool bpf = false;        // AF_XDP: its map and its program
  bool ioctl_net = false;  // IP datagram sockets: kernel drivers of NICs are queried through them
  bool tap = false;        // requests to /dev/net/tun
  bool devices = false;    // requests to VFIO and RDMA devices
};

/// Installs the filter on all threads, for good; sets no_new_privs. The error is libseccomp's.
/// Threads must not block SIGSYS.
tl::expected<void, std::string> filter_syscalls(const SyscallNeeds& needs);

/// Calls that the filter has refused so far. Attempts to start a process are refused without being
/// counted.
uint64_t refused_syscalls();

/// A text such as "execve 2 times" for each call that was refused since the last call of this
/// function; call it from one thread.
std::vector<std::string> new_refusals();

}  // namespace turnpike
