// SPDX-License-Identifier: BSD-3-Clause
// A port that always has packets: it receives the buffers that were sent, refilled.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <rte_mbuf.h>

#include "common/dpdk/queue_pair.h"

namespace turnpike::bench {

/// The first bytes of a frame; the router reads no more.
struct Front {
  static constexpr size_t kSize = 128;
  alignas(64) std::array<uint8_t, kSize> bytes{};
  uint16_t length = 0;  // B of the whole frame
};

/// Buffers of all refill ports of a bench, as a NIC's rings hold them: the last ones sent are the
/// next ones filled.
class BufferStack {
 public:
  /// Takes `count` buffers from the pool, for good. 0: passes them on to the pool, as is necessary
  /// for packets of several buffers.
  BufferStack(rte_mempool* pool, size_t count) : pool_(count == 0 ? pool : nullptr), free_(count) {
    if (count > 0) rte_pktmbuf_alloc_bulk(pool, free_.data(), static_cast<unsigned>(count));
  }
  ~BufferStack() { rte_pktmbuf_free_bulk(free_.data(), static_cast<unsigned>(free_.size())); }
  BufferStack(const BufferStack&) = delete;
  BufferStack& operator=(const BufferStack&) = delete;

  void take(std::span<rte_mbuf*> out) {
    if (pool_ != nullptr) {
      rte_pktmbuf_alloc_bulk(pool_, out.data(), static_cast<unsigned>(out.size()));
      return;
    }
    std::copy(free_.end() - static_cast<std::ptrdiff_t>(out.size()), free_.end(), out.begin());
    free_.resize(free_.size() - out.size());
  }
  void give(std::span<rte_mbuf*> back) {
    if (pool_ != nullptr) {
      rte_pktmbuf_free_bulk(back.data(), static_cast<unsigned>(back.size()));
    } else {
      free_.insert(free_.end(), back.begin(), back.end());
    }
  }

 private:
  rte_mempool* pool_;  // null: the buffers are in free_
  std::vector<rte_mbuf*> free_;
};

/// Writes its packets anew for every burst, as a NIC would. The benchmarks report this cost of the
/// harness beside their results and do not subtract it.
class RefillPort final : public QueuePair {
 public:
  RefillPort(BufferStack& buffers, std::vector<Front> fronts, uint16_t burst)
      : buffers_(buffers), fronts_(std::move(fronts)), burst_(burst) {}

  uint16_t rx(Nanos, std::span<rte_mbuf*> out) override {
    if (fronts_.empty()) return 0;
    const auto n = std::min<uint16_t>(burst_, static_cast<uint16_t>(out.size()));
    buffers_.take(out.first(n));
    for (rte_mbuf* m : out.first(n)) {
      const Front& front = fronts_[next_];
      next_ = next_ + 1 == fronts_.size() ? 0 : next_ + 1;
      std::memcpy(rte_pktmbuf_mtod(m, uint8_t*), front.bytes.data(), Front::kSize);
      m->data_len = front.length;
      m->pkt_len = front.length;
    }
    return n;
  }
  uint16_t tx(Nanos, std::span<rte_mbuf*> burst) override {
    buffers_.give(burst);
    sent_ += burst.size();
    return static_cast<uint16_t>(burst.size());
  }
  [[nodiscard]] uint64_t sent() const { return sent_; }

 private:
  BufferStack& buffers_;
  std::vector<Front> fronts_;
  size_t next_ = 0;
  uint16_t burst_;
  uint64_t sent_ = 0;
};

}  // namespace turnpike::bench
