// SPDX-License-Identifier: BSD-3-Clause
// NUMA nodes (DPDK: sockets) of ports and workers.
#pragma once

#include <span>
#include <string>

#include <rte_lcore.h>
#include <rte_memory.h>

#include "common/dpdk/port.h"

namespace turnpike {

/// The most frequent socket; of equally frequent ones the lowest. SOCKET_ID_ANY if all are that, as
/// those of virtual devices. A packet crosses from one port to another, so memory that serves
/// several ports is on one node.
int numa_node_of(std::span<const int> sockets);
int numa_node_of(std::span<const Port> ports);

/// Pins this thread to the workers' CPUs at a socket during its life: the kernel places memory on
/// the node of the thread that first touches it. Does nothing if no worker is on that socket.
class ScopedNumaAffinity {
 public:
  explicit ScopedNumaAffinity(int socket);
  ~ScopedNumaAffinity();
  ScopedNumaAffinity(const ScopedNumaAffinity&) = delete;
  ScopedNumaAffinity& operator=(const ScopedNumaAffinity&) = delete;

 private:
  rte_cpuset_t before_;
  bool moved_ = false;
};

/// A warning if the worker is at another socket than the port, so that every packet crosses between
/// sockets; `link`: the port's name in the warning. Empty: same socket.
std::string remote_text(const std::string& link, const Port& port, unsigned worker);

}  // namespace turnpike
