// SPDX-License-Identifier: BSD-3-Clause
// When the packets of a stream are due: plain arithmetic instead of a timer for each.
#pragma once

#include <cstdint>
#include <vector>

#include "common/config/topology.h"

namespace turnpike::sender {

/// Packets of a constant rate, their sizes taking turns. The n-th is due at a time that depends on
/// n alone, so nothing drifts: to the nanosecond for three months (2^53 ns).
class ConstantRate {
 public:
  /// `line`: the link that a stream's `rate: {line: ...}` is a share of.
  ConstantRate(const config::Stream& stream, const config::Direction& line);

  /// Of the next packet: its number from 0, when it is due, and how long its IP datagram is in B.
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

  /// Passes over every packet that is due before `time`; returns how many.
  uint64_t skip_to(Nanos time);
  /// How many packets are due before `time` in all.
  [[nodiscard]] uint64_t due_before(Nanos time) const;

  [[nodiscard]] double packets_per_second() const;

 private:
  [[nodiscard]] Nanos due_of(uint64_t turn, size_t place) const {
    return start_ +
           Nanos(static_cast<int64_t>(static_cast<double>(turn) * period_ + offsets_[place]));
  }

  Nanos start_;
  std::vector<uint32_t> sizes_;  // B of IP datagrams
  std::vector<double> offsets_;  // ns from the first packet of a turn to each
  double period_ = 0;            // ns from one turn of the sizes to the next
  uint64_t turn_ = 0;
  size_t place_ = 0;
  Nanos due_;
};

}  // namespace turnpike::sender
