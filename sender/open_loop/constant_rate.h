// SPDX-License-Identifier: BSD-3-Clause
// Computes the due times of a stream's packets, without a timer per packet.
#pragma once

#include <cstdint>
#include <vector>

#include "common/config/topology.h"

namespace turnpike::sender {

/// Packets at a constant rate whose sizes repeat in a cycle. The due time of packet n
/// depends on n alone, so it does not drift: exact to the nanosecond for three months (2^53 ns).
class ConstantRate {
 public:
  /// `line`: the link direction to which a stream's `rate: {line: ...}` refers.
  ConstantRate(const config::Stream& stream, const config::Direction& line);

  /// Sequence number of the next packet, from 0.
  [[nodiscard]] uint64_t number() const { return cycle_ * sizes_.size() + index_; }
  /// Time at which it is due.
  [[nodiscard]] Nanos due() const { return due_; }
  /// B of its IP datagram.
  [[nodiscard]] uint32_t datagram() const { return sizes_[index_]; }
  /// Moves to the next packet.
  void advance() {
    if (++index_ == sizes_.size()) {
      index_ = 0;
      ++cycle_;
    }
    due_ = due_of(cycle_, index_);
  }

  /// Skips all packets due before `time`; returns how many.
  uint64_t skip_to(Nanos time);
  /// Number of packets since the start that are due before `time`.
  [[nodiscard]] uint64_t due_before(Nanos time) const;

  /// Mean over a cycle.
  [[nodiscard]] double packets_per_second() const;

 private:
  [[nodiscard]] Nanos due_of(uint64_t cycle, size_t index) const {
    return start_ +
           Nanos(static_cast<int64_t>(static_cast<double>(cycle) * period_ + offsets_[index]));
  }

  Nanos start_;
  std::vector<uint32_t> sizes_;  // B of IP datagrams
  std::vector<double> offsets_;  // ns from the beginning of a cycle to each packet
  double period_ = 0;            // ns per cycle
  uint64_t cycle_ = 0;
  size_t index_ = 0;
  Nanos due_;
};

}  // namespace turnpike::sender
