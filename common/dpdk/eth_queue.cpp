// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/eth_queue.h"

#include <rte_ethdev.h>

namespace turnpike {

uint16_t EthQueue::rx(Nanos /*now*/, std::span<rte_mbuf*> out) {
  return rte_eth_rx_burst(port_, queue_, out.data(), static_cast<uint16_t>(out.size()));
}

uint16_t EthQueue::tx(Nanos /*now*/, std::span<rte_mbuf*> burst) {
  if (!chains_) return tx_single_segments(burst);
  return rte_eth_tx_burst(port_, queue_, burst.data(), static_cast<uint16_t>(burst.size()));
}

uint16_t EthQueue::tx_single_segments(std::span<rte_mbuf*> burst) {
  size_t done = 0;  // sent, or freed
  for (size_t i = 0; i <= burst.size(); ++i) {
    const bool end = i == burst.size();
    if (!end && (burst[i]->nb_segs == 1 || rte_pktmbuf_linearize(burst[i]) == 0)) continue;
    // All from `done` to here can be sent; the packet here, if there is one, never can.
    if (i > done) {
      const auto n = static_cast<uint16_t>(i - done);
      const uint16_t sent = rte_eth_tx_burst(port_, queue_, burst.data() + done, n);
      done += sent;
      if (sent < n) break;
    }
    if (end) break;
    rte_pktmbuf_free(burst[i]);
    unsendable_.store(unsendable() + 1, std::memory_order_relaxed);
    ++done;
  }
  return static_cast<uint16_t>(done);
}

}  // namespace turnpike
