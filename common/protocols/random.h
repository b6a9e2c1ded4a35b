// SPDX-License-Identifier: BSD-3-Clause
// Random numbers for laws: a stream for each lcore of each link, the same in every run with the
// same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace turnpike {

/// SplitMix64 (Steele, Lea, Flood 2014): small enough for a shard; shards share no state.
class SplitMix64 {
 public:
  /// Neighbouring seeds, and neighbouring streams of one seed, give independent sequences.
  explicit SplitMix64(uint64_t seed, uint64_t stream = 0) : state_(mix(seed + mix(stream))) {}

  uint64_t next() { return mix(state_ += kGolden); }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  static constexpr uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

/// Seed of the law at end `end` of a link in a run with seed `run`. Depends on the link's name, so
/// that a file may list its links in any order.
inline uint64_t link_seed(uint64_t run, std::string_view link, size_t end) {
  uint64_t name = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : link) name = (name ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return SplitMix64(run, name + end).next();
}

}  // namespace turnpike
