// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/pool.h"

#include <algorithm>
#include <cstring>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_mbuf_pool_ops.h>
#include <sys/mman.h>

#include "common/dpdk/dpdk_log.h"
#include "common/dpdk/large_array.h"
#include "common/dpdk/names.h"

namespace turnpike {
namespace {

void clear(rte_mempool* /*pool*/, void* /*argument*/, void* buffer, unsigned /*index*/) {
  const auto& m = *static_cast<rte_mbuf*>(buffer);
  std::memset(m.buf_addr, 0, m.buf_len);
}

// A mempool with DPDK's mbuf layout whose buffers may span pages, since no device without hugepages
// needs contiguous physical memory. DPDK would otherwise keep every buffer within a page: without
// hugepages, one buffer per 4 KB page at the same offset. The packets of a burst would then share a
// few sets of the L1 cache and evict each other.
rte_mempool* make_empty(const char* name, const PoolOptions& o, uint32_t cache) {
  rte_pktmbuf_pool_private layout{};
  layout.mbuf_data_room_size = o.data_room;
  layout.mbuf_priv_size = o.private_size;
  rte_mempool* pool =
      rte_mempool_create_empty(name, o.mbufs, sizeof(rte_mbuf) + o.private_size + o.data_room,
                               cache, sizeof layout, o.socket, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
  if (pool == nullptr) return nullptr;
  if (const int failed = rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), nullptr)) {
    rte_mempool_free(pool);
    rte_errno = -failed;
    return nullptr;
  }
  rte_pktmbuf_pool_init(pool, &layout);
  return pool;
}

// Fills the pool; false: no memory.
bool fill(rte_mempool* pool, const PoolOptions& o) {
  if (!o.own_memory) return rte_mempool_populate_default(pool) >= static_cast<int>(o.mbufs);
  const size_t each = pool->header_size + pool->elt_size + pool->trailer_size;
  const size_t length = (o.mbufs * each / kLargePage + 1) * kLargePage;
  void* memory = map_large(length);
  if (memory == nullptr) return false;
  const auto unmap = [](rte_mempool_memhdr* chunk, void*) { munmap(chunk->addr, chunk->len); };
  const int filled = rte_mempool_populate_iova(pool, static_cast<char*>(memory), RTE_BAD_IOVA,
                                               length, unmap, nullptr);
  if (filled <= 0) munmap(memory, length);  // the pool did not take it
  return filled >= static_cast<int>(o.mbufs);
}

rte_mempool* create_across_pages(const char* name, const PoolOptions& o, uint32_t cache) {
  rte_mempool* pool = make_empty(name, o, cache);
  if (pool == nullptr) return nullptr;
  if (fill(pool, o)) {
    rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
    return pool;
  }
  rte_mempool_free(pool);
  rte_errno = ENOMEM;
  return nullptr;
}

}  // namespace

tl::expected<Pool, std::string> Pool::create(std::string_view stem, const PoolOptions& options) {
  const std::string name = unique_name(stem);
  // DPDK refuses a cache larger than two thirds of the pool.
  const uint32_t cache =
      std::min({options.cache, uint32_t{RTE_MEMPOOL_CACHE_MAX_SIZE}, options.mbufs * 2 / 3});
  const CapturedLog log;
  rte_mempool* pool =
      options.own_memory || rte_eal_has_hugepages() == 0
          ? create_across_pages(name.c_str(), options, cache)
          : rte_pktmbuf_pool_create(name.c_str(), options.mbufs, cache, options.private_size,
                                    options.data_room, options.socket);
  if (pool == nullptr) {
    const std::string where =
        options.socket < 0 ? "" : " on processor socket " + std::to_string(options.socket);
    return tl::unexpected("no memory" + where + " for a pool of " + std::to_string(options.mbufs) +
                          " packet buffers (" + rte_strerror(rte_errno) +
                          "): give DPDK more, with hugepages there or -m");
  }
  if (options.zeroed && !options.own_memory) rte_mempool_obj_iter(pool, clear, nullptr);
  return Pool(pool);
}

uint16_t Pool::room_for(uint32_t mtu) {
  const uint32_t room = RTE_PKTMBUF_HEADROOM + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN + mtu;
  return static_cast<uint16_t>(std::clamp<uint32_t>(room, RTE_MBUF_DEFAULT_BUF_SIZE, UINT16_MAX));
}

size_t Pool::memory(size_t mbufs, uint16_t data_room) {
  return mbufs * rte_mempool_calc_obj_size(sizeof(rte_mbuf) + data_room, 0, nullptr);
}

}  // namespace turnpike
