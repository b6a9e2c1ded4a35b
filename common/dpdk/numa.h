// SPDX-License-Identifier: BSD-3-Clause
// Memory beside the ports that it serves: which processor socket (NUMA node) that is.
#pragma once

#include <span>
#include <string>

#include <rte_lcore.h>
#include <rte_memory.h>

#include "common/dpdk/port.h"

namespace turnpike {

/// The socket that most of these are; of as many the lowest, and SOCKET_ID_ANY where all are that,
/// as those of virtual devices. A packet crosses from one port to another, so what serves several
/// ports has one home.
int numa_node_of(std::span<const int> sockets);
int numa_node_of(std::span<const Port> ports);

/// While it lives, this thread runs on the workers' CPUs at a socket, because the kernel places
/// memory where it is touched first. Nothing happens where no worker is there.
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

/// A warning if the worker is at another socket than the port, which costs every packet a way
/// between the two; `link` names the port for people.
std::string remote_text(const std::string& link, const Port& port, unsigned worker);

}  // namespace turnpike
