// SPDX-License-Identifier: BSD-3-Clause
// Chance for queue disciplines, the same in every run.
#pragma once

#include <cstdint>

namespace turnpike::tcp {

/// SplitMix64 (Steele, Lea, Flood 2014). Each lcore has its own, so none waits for another.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  /// From 0 to below 1.
  double next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

}  // namespace turnpike::tcp
