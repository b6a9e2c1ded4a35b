// SPDX-License-Identifier: BSD-3-Clause
// A pool of packet buffers that counts those in use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <rte_mbuf.h>
#include <tl/expected.hpp>

namespace turnpike {

struct PoolOptions {
  uint32_t mbufs = 8191;                           // 2^n - 1 wastes no memory
  uint32_t cache = 256;                            // per lcore
  uint16_t data_room = RTE_MBUF_DEFAULT_BUF_SIZE;  // B, headroom included
  uint16_t private_size = 0;                       // B per mbuf for the application
  int socket = SOCKET_ID_ANY;
  // Zeroes the buffers; otherwise they hold data of their memory's last use.
  bool zeroed = false;
  // Memory of its own instead of EAL's, zeroed, for packets that no device touches. Buffers take
  // memory when they are first used, and those that were freed last are used first: `mbufs` may be
  // far more than are ever in use.
  bool own_memory = false;
};

/// mbufs on one NUMA node. All must be freed before the pool is destroyed: ask in_use() first.
class Pool {
 public:
  /// `stem`: first part of the unique name in DPDK's dumps.
  static tl::expected<Pool, std::string> create(std::string_view stem, const PoolOptions& options);

  /// PoolOptions::data_room, B, for frames that carry IP datagrams of `mtu` bytes; at least the
  /// default, which is enough for an MTU of 1500 B.
  static uint16_t room_for(uint32_t mtu);
  /// Memory of a pool without hugepages, B.
  static size_t memory(size_t mbufs, uint16_t data_room);

  [[nodiscard]] rte_mempool* get() const { return pool_.get(); }
  /// mbufs allocated; those in lcores' caches are not in use. Exact while no thread allocates or
  /// frees.
  [[nodiscard]] unsigned in_use() const { return rte_mempool_in_use_count(pool_.get()); }

 private:
  explicit Pool(rte_mempool* pool) : pool_(pool) {}
  struct Free {
    void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
  };
  std::unique_ptr<rte_mempool, Free> pool_;
};

}  // namespace turnpike
