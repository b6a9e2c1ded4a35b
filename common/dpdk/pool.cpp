// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/pool.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_spinlock.h>

#include "common/dpdk/dpdk_log.h"
#include "common/dpdk/large_array.h"
#include "common/dpdk/names.h"

namespace turnpike {
namespace {

void clear(rte_mempool* /*pool*/, void* /*argument*/, void* buffer, unsigned /*index*/) {
  const auto& m = *static_cast<rte_mbuf*>(buffer);
  std::memset(m.buf_addr, 0, m.buf_len);
}

/// Free buffers of a pool with memory of its own, the one that was freed last on top: buffers in
/// use take memory, not all of the pool's. A buffer is initialised when it is first taken.
class FreeBuffers {
 public:
  explicit FreeBuffers(uint32_t size)
      : size_(size), stack_(static_cast<void**>(map_lazily(size * sizeof(void*)))) {}
  ~FreeBuffers() {
    if (stack_ != nullptr) unmap_large(stack_, size_ * sizeof(void*));
  }
  FreeBuffers(const FreeBuffers&) = delete;
  FreeBuffers& operator=(const FreeBuffers&) = delete;
  [[nodiscard]] bool valid() const { return stack_ != nullptr; }

  void set_memory(rte_mempool* pool, char* memory, unsigned buffers) {
    each_ = pool->header_size + pool->elt_size + pool->trailer_size;
    next_ = memory + pool->header_size;
    unused_ = buffers;
  }
  [[nodiscard]] unsigned count() {
    const Guard guard(lock_);
    return top_ + unused_;
  }
  int put(void* const* buffers, unsigned n) {
    const Guard guard(lock_);
    std::copy_n(buffers, n, stack_ + top_);
    top_ += n;
    return 0;
  }
  int take(rte_mempool* pool, void** out, unsigned n) {
    const Guard guard(lock_);
    if (top_ + unused_ < n) return -ENOBUFS;
    const unsigned used = std::min(n, top_);
    top_ -= used;
    std::copy_n(stack_ + top_, used, out);
    for (unsigned i = used; i < n; ++i) out[i] = take_unused(pool);
    return 0;
  }

 private:
  class Guard {
   public:
    explicit Guard(rte_spinlock_t& lock) : lock_(lock) { rte_spinlock_lock(&lock_); }
    ~Guard() { rte_spinlock_unlock(&lock_); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    rte_spinlock_t& lock_;
  };

  void* take_unused(rte_mempool* pool) {
    char* const buffer = next_;
    next_ += each_;
    --unused_;
    rte_mempool_objhdr* header = rte_mempool_get_header(buffer);
    header->mp = pool;
    header->iova = RTE_BAD_IOVA;
    rte_pktmbuf_init(pool, nullptr, buffer, 0);
    return buffer;
  }

  rte_spinlock_t lock_ = RTE_SPINLOCK_INITIALIZER;
  size_t size_, each_ = 0;
  char* next_ = nullptr;  // the first buffer that was never used
  unsigned unused_ = 0;   // from there on
  unsigned top_ = 0;
  void** stack_;
};

FreeBuffers& free_buffers(const rte_mempool* pool) {
  return *static_cast<FreeBuffers*>(pool->pool_data);
}

constexpr const char* kLifo = "turnpike-lifo";

/// Registers FreeBuffers with DPDK, once; false: there is no room.
bool register_lifo() {
  static const bool done = [] {
    rte_mempool_ops ops{};
    std::snprintf(ops.name, sizeof ops.name, "%s", kLifo);
    ops.alloc = [](rte_mempool* pool) {
      auto made = std::make_unique<FreeBuffers>(pool->size);
      if (!made->valid()) return -ENOMEM;
      pool->pool_data = made.release();
      return 0;
    };
    ops.free = [](rte_mempool* pool) { delete static_cast<FreeBuffers*>(pool->pool_data); };
    ops.enqueue = [](rte_mempool* pool, void* const* buffers, unsigned n) {
      return free_buffers(pool).put(buffers, n);
    };
    ops.dequeue = [](rte_mempool* pool, void** out, unsigned n) {
      return free_buffers(pool).take(pool, out, n);
    };
    ops.get_count = [](const rte_mempool* pool) { return free_buffers(pool).count(); };
    ops.populate = [](rte_mempool* pool, unsigned most, void* memory, rte_iova_t, size_t,
                      rte_mempool_populate_obj_cb_t*, void*) {
      free_buffers(pool).set_memory(pool, static_cast<char*>(memory), most);
      return static_cast<int>(most);
    };
    return rte_mempool_register_ops(&ops) >= 0;
  }();
  return done;
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
  const bool lifo = o.own_memory && register_lifo();
  const char* ops = lifo ? kLifo : rte_mbuf_best_mempool_ops();
  if (const int failed = rte_mempool_set_ops_byname(pool, ops, nullptr)) {
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
  const size_t length = o.mbufs * each + kLargePage;
  // Buffers are used from the first one on, without gaps. In 4 KB pages each packet of a large
  // network misses the TLB.
  void* memory = map_lazily(length, /*large_pages=*/true);
  if (memory == nullptr) return false;
  const auto unmap = [](rte_mempool_memhdr* chunk, void*) { unmap_large(chunk->addr, chunk->len); };
  const int filled = rte_mempool_populate_iova(pool, static_cast<char*>(memory), RTE_BAD_IOVA,
                                               length, unmap, nullptr);
  if (filled <= 0) unmap_large(memory, length);  // the pool did not take it
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
