// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/numa.h"

#include <map>
#include <vector>

#include "common/dpdk/eal.h"

namespace turnpike {

int numa_node_of(std::span<const int> sockets) {
  std::map<int, size_t> ports;
  for (const int s : sockets)
    if (s >= 0) ++ports[s];
  int home = SOCKET_ID_ANY;
  size_t most = 0;
  for (const auto& [socket, n] : ports)
    if (n > most) home = socket, most = n;
  return home;
}

int numa_node_of(std::span<const Port> ports) {
  std::vector<int> sockets;
  sockets.reserve(ports.size());
  for (const Port& p : ports) sockets.push_back(p.socket());
  return numa_node_of(sockets);
}

ScopedNumaAffinity::ScopedNumaAffinity(int socket) {
  rte_thread_get_affinity(&before_);
  rte_cpuset_t there;
  CPU_ZERO(&there);
  unsigned lcore = 0;
  RTE_LCORE_FOREACH_WORKER(lcore) {
    const rte_cpuset_t cpus = rte_lcore_cpuset(lcore);
    if (static_cast<int>(rte_lcore_to_socket_id(lcore)) == socket) CPU_OR(&there, &there, &cpus);
  }
  moved_ = CPU_COUNT(&there) > 0 && rte_thread_set_affinity(&there) == 0;
}

ScopedNumaAffinity::~ScopedNumaAffinity() {
  if (moved_) rte_thread_set_affinity(&before_);
}

std::string remote_text(const std::string& link, const Port& port, unsigned worker) {
  const auto own = static_cast<int>(rte_lcore_to_socket_id(Eal::worker_lcore(worker)));
  if (port.socket() < 0 || port.socket() == own) return "";
  return "link " + link + ": its port is on processor socket " + std::to_string(port.socket()) +
         ", worker " + std::to_string(worker) + " on " + std::to_string(own) +
         "; choose lcores of the port's socket (lscpu shows them)\n";
}

}  // namespace turnpike
