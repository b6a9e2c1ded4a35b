// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/eth_queue.h"

#include <rte_ethdev.h>

namespace turnpike {

namespace {
/// memif's driver sets the link up as the last step of a new connection, and down as the first step
/// of a lost one. Its own burst functions read the connection's state in another order.
bool connected(uint16_t port) {
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(port, &link) != 0 || link.link_status != RTE_ETH_LINK_UP)
    return false;
  std::atomic_thread_fence(std::memory_order_acquire);  // orders reads of the connection after this
  return true;
}
}  // namespace

EthQueue::EthQueue(uint16_t port, uint16_t queue, Traits traits)
    : port_(port), queue_(queue), chains_(traits.chains) {
  if (traits.memif) guard_.emplace();
}

uint16_t EthQueue::rx(Nanos now, std::span<rte_mbuf*> out) {
  if (steering_ != nullptr && steering_->on()) [[unlikely]]
    return steering_->rx(
        number_, queue_, now, out, [this](auto room) { return receive(room); },
        [this] { return ring_empty(); });
  return receive(out);
}

uint16_t EthQueue::receive(std::span<rte_mbuf*> out) {
  const auto most = static_cast<uint16_t>(out.size());
  if (!guard_) return rte_eth_rx_burst(port_, queue_, out.data(), most);
  const MemifGuard::Burst burst(*guard_);
  if (!connected(port_)) return 0;
  return rte_eth_rx_burst(port_, queue_, out.data(), most);
}

bool EthQueue::ring_empty() const {
  return rte_eth_rx_descriptor_status(port_, queue_, 0) != RTE_ETH_RX_DESC_DONE;
}

uint16_t EthQueue::tx(Nanos /*now*/, std::span<rte_mbuf*> burst) {
  return chains_ ? send(burst) : send_single_segments(burst);
}

uint16_t EthQueue::send(std::span<rte_mbuf*> burst) {
  const auto n = static_cast<uint16_t>(burst.size());
  if (!guard_) return rte_eth_tx_burst(port_, queue_, burst.data(), n);
  const MemifGuard::Burst guarded(*guard_);
  if (!connected(port_)) return 0;
  return rte_eth_tx_burst(port_, queue_, burst.data(), n);
}

uint16_t EthQueue::send_single_segments(std::span<rte_mbuf*> burst) {
  size_t done = 0;  // sent, or freed
  for (size_t i = 0; i <= burst.size(); ++i) {
    const bool end = i == burst.size();
    if (!end && (burst[i]->nb_segs == 1 || rte_pktmbuf_linearize(burst[i]) == 0)) continue;
    // All packets from `done` to here can be sent; the packet here, if any, never can.
    if (i > done) {
      const uint16_t sent = send(burst.subspan(done, i - done));
      done += sent;
      if (done < i) break;
    }
    if (end) break;
    rte_pktmbuf_free(burst[i]);
    unsendable_.store(unsendable() + 1, std::memory_order_relaxed);
    ++done;
  }
  return static_cast<uint16_t>(done);
}

}  // namespace turnpike
