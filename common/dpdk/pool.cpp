// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/pool.h"

#include <algorithm>

#include <rte_errno.h>
#include <rte_ether.h>

#include "common/dpdk/dpdk_log.h"
#include "common/dpdk/names.h"

namespace turnpike {

tl::expected<Pool, std::string> Pool::create(std::string_view stem, const PoolOptions& options) {
  const std::string name = unique_name(stem);
  // DPDK refuses caches that could hold more than the pool has.
  const uint32_t cache =
      std::min({options.cache, uint32_t{RTE_MEMPOOL_CACHE_MAX_SIZE}, options.mbufs * 2 / 3});
  const CapturedLog log;
  rte_mempool* pool = rte_pktmbuf_pool_create(
      name.c_str(), options.mbufs, cache, options.private_size, options.data_room, options.socket);
  if (pool == nullptr) {
    return tl::unexpected("no memory for a pool of " + std::to_string(options.mbufs) +
                          " packet buffers (" + rte_strerror(rte_errno) +
                          "): give DPDK more, with hugepages or -m");
  }
  return Pool(pool);
}

uint16_t Pool::room_for(uint32_t mtu) {
  const uint32_t room = RTE_PKTMBUF_HEADROOM + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN + mtu;
  return static_cast<uint16_t>(std::clamp<uint32_t>(room, RTE_MBUF_DEFAULT_BUF_SIZE, UINT16_MAX));
}

size_t Pool::memory(size_t mbufs, uint16_t data_room) {
  constexpr size_t kPage = 4096;
  constexpr size_t kBeside = 256;  // the mbuf and the pool's header
  return mbufs * ((data_room + kBeside + kPage - 1) / kPage) * kPage;
}

}  // namespace turnpike
