// SPDX-License-Identifier: BSD-3-Clause
// The sending end of a stream.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/config/topology.h"
#include "sender/open_loop/constant_rate.h"
#include "sender/open_loop/frame_generator.h"
#include "sender/open_loop/totals.h"

struct rte_mempool;

namespace turnpike::sender {

class TxBuffer;

/// Sends what is due, whatever became of what went before. What cannot be sent in time is not sent
/// later: a stream that was held up goes on at its rate, and says how much it left out.
class Emitter {
 public:
  static constexpr unsigned kBurst = 64;  // packets per poll, so that arrivals have their turn
  static constexpr Nanos kMaxLag = 1_ms;

  /// The `index`-th of the topology's streams; buffers come from `pool`. `zeroed`: they hold zeros
  /// beyond the end of their last frame.
  Emitter(const config::Topology& topology, uint16_t index, rte_mempool* pool, bool zeroed);

  /// See OpenLoop::send_from().
  void send_from(rte_mempool* pool) {
    pool_ = pool;
    own_pool_ = true;
  }

  /// Returns how many packets it put into the tx.
  unsigned emit(TxBuffer& tx, Nanos now);
  /// When there is something to do next; kNever after the end.
  [[nodiscard]] Nanos next_deadline() const {
    return rate_.due() < stop_ ? rate_.due() + slack_ : kNever;
  }
  /// Nothing is due from `now` on.
  void stop(Nanos now);

  [[nodiscard]] uint16_t index() const { return index_; }
  [[nodiscard]] const Departures& departures() const { return departures_; }
  /// Packets that were due by then.
  [[nodiscard]] uint64_t offered(Nanos now) const { return rate_.due_before(std::min(now, stop_)); }
  /// How long it was to send by then.
  [[nodiscard]] Nanos active(Nanos now) const {
    return std::max(std::min(now, stop_) - start_, Nanos(0));
  }

 private:
  bool send(TxBuffer& tx, Nanos now);
  /// How much of a frame of `frame` B may hold something old, `last_frame` B having been the
  /// buffer's last one.
  [[nodiscard]] size_t dirty(size_t last_frame, size_t frame) const {
    if (own_pool_) return std::min(FrameGenerator::kMaxWritten, frame);
    return zeroed_ ? last_frame : frame;
  }

  ConstantRate rate_;
  FrameGenerator frames_;
  rte_mempool* pool_;
  Nanos start_, stop_, slack_;
  uint64_t sequence_ = 0;
  uint16_t index_;
  bool zeroed_;
  bool own_pool_ = false;
  Departures departures_;
};

}  // namespace turnpike::sender
