// SPDX-License-Identifier: BSD-3-Clause
// A pool of packet buffers that knows how many are out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <rte_mbuf.h>
#include <tl/expected.hpp>

namespace turnpike {

struct PoolOptions {
  uint32_t mbufs = 8191;                           // one less than a power of two wastes no memory
  uint32_t cache = 256;                            // per lcore
  uint16_t data_room = RTE_MBUF_DEFAULT_BUF_SIZE;  // B, headroom included
  uint16_t private_size = 0;                       // B per mbuf for the application
  int socket = SOCKET_ID_ANY;
  // Buffers hold zeros at first; without it, whatever the memory was used for before.
  bool zeroed = false;
  // Memory of its own, in large pages where the kernel gives some, instead of EAL's: packets that
  // no device touches. It holds zeros at first.
  bool own_memory = false;
};

/// mbufs of one NUMA socket. Every one must be back before the pool goes: ask in_use() first.
class Pool {
 public:
  /// `stem` is for DPDK's dumps; names are made unique.
  static tl::expected<Pool, std::string> create(std::string_view stem, const PoolOptions& options);

  /// PoolOptions::data_room for frames that carry IP datagrams of `mtu` bytes; the usual one holds
  /// the usual MTU.
  static uint16_t room_for(uint32_t mtu);
  /// Ordinary memory that a pool takes, B.
  static size_t memory(size_t mbufs, uint16_t data_room);

  [[nodiscard]] rte_mempool* get() const { return pool_.get(); }
  /// mbufs that somebody holds; those in lcores' caches are not in use. Exact while nobody
  /// allocates or frees.
  [[nodiscard]] unsigned in_use() const { return rte_mempool_in_use_count(pool_.get()); }

 private:
  explicit Pool(rte_mempool* pool) : pool_(pool) {}
  struct Free {
    void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
  };
  std::unique_ptr<rte_mempool, Free> pool_;
};

}  // namespace turnpike
