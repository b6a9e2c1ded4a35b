// SPDX-License-Identifier: BSD-3-Clause
// DPDK for a fuzz target: EAL and a pool that live as long as the process, and a port in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <rte_mbuf.h>

#include "common/dpdk/buffer.h"
#include "common/dpdk/eal.h"
#include "common/dpdk/pool.h"
#include "common/dpdk/queue_pair.h"
#include "tests/fuzz/input.h"
#include "tests/support/mbuf_chain.h"

namespace turnpike::fuzz {

struct Bench {
  Bench(Eal e, Pool p) : eal(std::move(e)), pool(std::move(p)) {}
  Eal eal;
  Pool pool;
};

/// Call once. Without a cache all buffers are in the pool's ring, where BufferShare counts them.
inline std::unique_ptr<Bench> set_up(const char* program, uint32_t mbufs, uint32_t cache = 256) {
  auto eal = Eal::start({.program = program});
  require(eal.has_value(), "EAL starts");
  auto pool = Pool::create("fuzz", {.mbufs = mbufs, .cache = cache});
  require(pool.has_value(), "there is memory for a pool");
  return std::make_unique<Bench>(std::move(*eal), std::move(*pool));
}

/// The frame in buffers of at most `segment` B, at least 1.
inline rte_mbuf* chain_of(Bench& bench, std::span<const uint8_t> frame, size_t segment) {
  rte_mbuf* m = testing::mbuf_chain(bench.pool.get(), frame, segment);
  require(m != nullptr, "there are buffers");
  return m;
}

/// Receives frames from `in`; stores sent frames in `out`, at most `room`.
class Port final : public QueuePair {
 public:
  static constexpr size_t kMax = 512;

  uint16_t rx(Nanos, std::span<rte_mbuf*> burst) override {
    uint16_t n = 0;
    while (n < burst.size() && first_ < last_) burst[n++] = in_[first_++];
    if (first_ == last_) first_ = last_ = 0;
    return n;
  }
  uint16_t tx(Nanos, std::span<rte_mbuf*> burst) override {
    const size_t n = std::min({burst.size(), room, kMax - count_});
    std::copy_n(burst.begin(), n, out_.begin() + static_cast<std::ptrdiff_t>(count_));
    count_ += n;
    if (room != SIZE_MAX) room -= n;
    return static_cast<uint16_t>(n);
  }

  /// Returns false if `in_` is full; the caller then keeps the frame.
  bool put(rte_mbuf* m) {
    if (last_ == kMax) return false;
    in_[last_++] = m;
    return true;
  }
  [[nodiscard]] bool waiting() const { return first_ < last_; }
  /// Calls f(mbuf) for every sent frame and frees it.
  template <class F>
  void take(F&& f) {
    for (size_t i = 0; i < count_; ++i) {
      f(*out_[i]);
      rte_pktmbuf_free(out_[i]);
    }
    count_ = 0;
  }
  void clear() {
    take([](const rte_mbuf&) {});
    for (; first_ < last_; ++first_) rte_pktmbuf_free(in_[first_]);
    first_ = last_ = 0;
    room = SIZE_MAX;
  }

  size_t room = SIZE_MAX;

 private:
  std::array<rte_mbuf*, kMax> in_{}, out_{};
  size_t first_ = 0, last_ = 0, count_ = 0;
};

}  // namespace turnpike::fuzz
