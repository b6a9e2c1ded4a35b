// SPDX-License-Identifier: BSD-3-Clause
// Computes the due times of a stream's packets, without a timer per packet.
#pragma once

#include <cstdint>
#include <vector>

#include "common/config/topology.h"

namespace turnpike::sender {

/// Packets at a constant rate whose sizes repeat in a cycle (a turn). The due time of packet n
/// depends on n alone, so it does not drift: exact to the nanosecond for three months (2^53 ns).
class ConstantRate {
 public:
  /// `line`: the link direction to which a stream's `rate: {line: ...}` refers.
  ConstantRate(const config::Stream& stream, const config::Direction& line);

  /// Number from 0, due time, and size in B of the IP datagram of the next packet.
  [[nodiscard]] uint64_t number() const { return turn_ * sizes_.size() + place_; }
  [[nodiscard]] Nanos due() const { return due_; }
  [[nodiscard]] uint32_t datagram() const { return sizes_[place_]; }
  void advance() {
    if (++place_ == sizes_.size()) {
      place_ = 0;
      ++turn_;
    }
    due_ = due_of(turn_, place_);
  }

  /// Skips all packets due before `time`; returns their number.
  uint64_t skip_to(Nanos time);
  /// Number of packets since the start that are due before `time`.
  [[nodiscard]] uint64_t due_before(Nanos time) const;

  [[nodiscard]] double packets_per_second() const;

 private:
  [[nodiscard]] Nanos due_of(uint64_t turn, size_t place) const {
    return start_ +
           Nanos(static_cast<int64_t>(static_cast<double>(turn) * period_ + offsets_[place]));
  }

  Nanos start_;
  std::vector<uint32_t> sizes_;  // B of IP datagrams
  std::vector<double> offsets_;  // ns from the beginning of a turn to each packet
  double period_ = 0;            // ns of a turn
  uint64_t turn_ = 0;
  size_t place_ = 0;
  Nanos due_;
};

}  // namespace turnpike::sender
