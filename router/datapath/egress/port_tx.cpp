// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/egress/port_tx.h"

#include <algorithm>

#include "router/datapath/probe/probe.h"

namespace turnpike::router {

void PortTx::send(Burst& burst, uint64_t bytes) {
  const size_t sent = port_->tx(burst.now, std::span(burst.mbufs.data(), burst.count));
  for (size_t i = sent; i < burst.count; ++i) {
    bytes -= burst.info[i].size;
    append(burst.mbufs[i], burst.info[i].size, burst.now);
  }
  if (sent > 0) count_sent(bytes, sent);
}

void PortTx::flush(Nanos now) {
  if (count_ == 0) return;
  const size_t sent = port_->tx(now, std::span(mbufs_.data(), count_));
  if (sent == 0) return;
  uint64_t bytes = 0;
  for (size_t i = 0; i < sent; ++i) bytes += sizes_[i];
  count_sent(bytes, sent);
  std::copy(mbufs_.begin() + static_cast<std::ptrdiff_t>(sent),
            mbufs_.begin() + static_cast<std::ptrdiff_t>(count_), mbufs_.begin());
  std::copy(sizes_.begin() + static_cast<std::ptrdiff_t>(sent),
            sizes_.begin() + static_cast<std::ptrdiff_t>(count_), sizes_.begin());
  count_ -= sent;
}

void PortTx::refuse(rte_mbuf* m, Nanos now) {
  shard_.drop(DropReason::kTxFull);
  if (probe_ != nullptr) probe_->refused(*m, link_, DropReason::kTxFull, now);
  rte_pktmbuf_free(m);
}

void PortTx::discard(DropReason why) {
  for (size_t i = 0; i < count_; ++i) {
    shard_.leave(sizes_[i]);
    shard_.drop(why);
  }
  rte_pktmbuf_free_bulk(mbufs_.data(), static_cast<unsigned>(count_));
  count_ = 0;
}

}  // namespace turnpike::router
