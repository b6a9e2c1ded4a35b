// SPDX-License-Identifier: BSD-3-Clause
// A burst sorted by class, for laws that pass each class's packets to another law.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/protocols/link_law.h"

namespace turnpike {

/// Copies of a burst's packets, those of a class together and in order.
class SortedBurst {
 public:
  static constexpr size_t kBurst = 64;  // LinkLaw's largest burst

  /// `class_of` returns a packet's class, below kMaxClasses.
  template <class F>
  SortedBurst(std::span<const LinkPacket> burst, F&& class_of) {
    std::array<uint8_t, kBurst> classes;
    for (size_t i = 0; i < burst.size(); ++i) {
      classes[i] = static_cast<uint8_t>(class_of(burst[i]));
      ++first_[classes[i] + 1U];
    }
    for (size_t c = 1; c <= kMaxClasses; ++c) first_[c] += first_[c - 1];
    std::array<uint8_t, kMaxClasses> next;
    for (size_t c = 0; c < kMaxClasses; ++c) next[c] = first_[c];
    for (size_t i = 0; i < burst.size(); ++i) {
      const uint8_t k = next[classes[i]]++;
      packets_[k] = burst[i];
      at_[k] = static_cast<uint8_t>(i);
    }
  }

  [[nodiscard]] std::span<LinkPacket> packets(unsigned c) {
    return {&packets_[first_[c]], static_cast<size_t>(first_[c + 1] - first_[c])};
  }

  /// Copies actions of class `c` back to the burst, and maps bits of the class's packets to the
  /// burst's.
  uint64_t give_back(std::span<LinkPacket> burst, unsigned c, uint64_t bits) const {
    uint64_t there = 0;
    for (size_t k = first_[c]; k < first_[c + 1]; ++k) {
      burst[at_[k]].action = packets_[k].action;
      there |= (bits & 1) << at_[k];
      bits >>= 1;
    }
    return there;
  }

 private:
  std::array<uint8_t, kMaxClasses + 1> first_{};  // index of each class's first packet
  std::array<uint8_t, kBurst> at_;                // places in the burst
  union {                                         // only copies are initialised
    std::array<LinkPacket, kBurst> packets_;
  };
};

}  // namespace turnpike
