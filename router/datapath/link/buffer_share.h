// SPDX-License-Identifier: BSD-3-Clause
// Limits the packet buffers of a pool that each link holds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <rte_mempool.h>

namespace turnpike::router {

/// Dynamic thresholds with alpha = 1 (Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998): each link has
/// guaranteed buffers, and may hold as many shared ones as are free. So one congested link leaves
/// half of the shared buffers to others, whatever its packet size. Counts the pool's free buffers,
/// so that buffers in ports and fragments count as used.
class BufferShare {
 public:
  /// No limits.
  BufferShare() = default;
  /// `wanted`: by link, the buffers of a queue full of MTU-sized packets. They are guaranteed in
  /// full if their sum is at most half of the pool, otherwise scaled down to that. `headroom`
  /// buffers stay free for reception. The pool must outlive this object.
  BufferShare(rte_mempool* pool, std::span<const uint32_t> wanted, uint32_t headroom)
      : pool_(pool), headroom_(std::min(headroom, pool->size / 4)) {
    uint64_t all = 0;
    for (const uint32_t w : wanted) all += w;
    const uint64_t most = (pool->size - headroom_) / 2;
    for (const uint32_t w : wanted)
      guaranteed_.push_back(static_cast<uint32_t>(all <= most ? w : w * most / all));
    reserved_ = headroom_;
    for (const uint32_t g : guaranteed_) reserved_ += g;
  }

  /// Takes the shares of `made`, for the same pool.
  void take_shares(BufferShare& made) {
    std::swap(guaranteed_, made.guaranteed_);
    reserved_ = made.reserved_;
  }

  /// Whether some link may exceed its share; call once per poll. A link holds at most `most_free_ -
  /// free_`, which is within its share if 2 `free_` >= `most_free_ + reserved_`.
  [[nodiscard]] bool scarce() {
    if (pool_ == nullptr) return false;
    // Excludes lcores' caches, which would take 128 cache misses to count.
    free_ = rte_mempool_get_ops(pool_->ops_index)->get_count(pool_);
    most_free_ = std::max(most_free_, free_);  // NICs keep some in their descriptors
    return 2 * free_ < most_free_ + reserved_;
  }

  /// Call while scarce(), before limit(). `held(l)`: packets that link l holds.
  template <class Held>
  void share(Held&& held) {
    int64_t shared = int64_t{free_} - headroom_;
    for (size_t l = 0; l < guaranteed_.size(); ++l)
      shared -= std::max<int64_t>(int64_t{guaranteed_[l]} - static_cast<int64_t>(held(l)), 0);
    shared_ = std::max<int64_t>(shared, 0);
  }

  /// Packets that a link may hold at present.
  [[nodiscard]] uint64_t limit(size_t link) const {
    return guaranteed_[link] + static_cast<uint64_t>(shared_);
  }

 private:
  rte_mempool* pool_ = nullptr;
  uint32_t headroom_ = 0;
  uint32_t reserved_ = 0;  // headroom_ and the sum of guaranteed_
  uint32_t free_ = 0, most_free_ = 0;
  int64_t shared_ = 0;
  std::vector<uint32_t> guaranteed_;  // by link
};

}  // namespace turnpike::router
