// SPDX-License-Identifier: BSD-3-Clause
// Sends the packets of one stream.
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

/// Sends due packets, regardless of losses. Packets that are late by more than `slack` and kMaxLag
/// are skipped and counted, so that a delayed stream continues at its rate without a burst.
class Emitter {
 public:
  static constexpr unsigned kBurst = 64;  // packets per poll, so that the lcore can receive
  static constexpr Nanos kMaxLag = 1_ms;
  static constexpr Nanos kRetry = 10_us;  // after a packet found no buffer or no room

  /// `index`: into Topology::streams. `pool`: source of buffers. `zeroed`: buffers hold zeros after
  /// the end of their last frame.
  Emitter(const config::Topology& topology, uint16_t index, rte_mempool* pool, bool zeroed);

  /// See OpenLoop::send_from().
  void send_from(rte_mempool* pool) {
    pool_ = pool;
    own_pool_ = true;
  }

  /// Appends due packets to `tx`; returns their number.
  unsigned emit(TxBuffer& tx, Nanos now);
  /// Time of the next call of emit() that sends a packet; kNever after the stream's end.
  [[nodiscard]] Nanos next_deadline() const {
    return rate_.due() < stop_ ? std::max(rate_.due() + slack_, retry_) : kNever;
  }
  /// Ends the stream at `now`.
  void stop(Nanos now);

  [[nodiscard]] uint16_t index() const { return index_; }
  [[nodiscard]] const Departures& departures() const { return departures_; }
  /// Number of packets due by `now`.
  [[nodiscard]] uint64_t offered(Nanos now) const { return rate_.due_before(std::min(now, stop_)); }
  /// Time from the stream's start to `now` or its end.
  [[nodiscard]] Nanos active(Nanos now) const {
    return std::max(std::min(now, stop_) - start_, Nanos(0));
  }

 private:
  bool send(TxBuffer& tx, Nanos now);
  /// Number of bytes of a frame of `frame` B that may hold old data. `last_frame`: size in B of the
  /// buffer's last frame.
  [[nodiscard]] size_t dirty(size_t last_frame, size_t frame) const {
    if (own_pool_) return std::min(FrameGenerator::kMaxWritten, frame);
    return zeroed_ ? last_frame : frame;
  }

  ConstantRate rate_;
  FrameGenerator frames_;
  rte_mempool* pool_;
  Nanos start_, stop_, slack_;
  Nanos retry_{0};  // no packet before then: a virtual clock must go on
  uint64_t sequence_ = 0;
  uint16_t index_;
  bool zeroed_;
  bool own_pool_ = false;
  Departures departures_;
};

}  // namespace turnpike::sender
