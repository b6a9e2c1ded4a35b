// SPDX-License-Identifier: BSD-3-Clause
// Random numbers that are the same on every machine. The C++ standard fixes the engine but not its
// distributions, so this class inverts the distribution functions itself.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace turnpike::sender {

class Random {
 public:
  /// `seed`: of the run. `stream`: one number per purpose; streams are independent.
  Random(uint64_t seed, uint32_t stream) : engine_(mix(seed ^ mix(stream + kGolden))) {}

  /// Uniform in (0, 1), excluding both ends: (53 random bits + 1/2) / 2^53.
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
  /// Uniform in [0, n), n > 0, with a bias of at most n / 2^64.
  uint64_t below(uint64_t n) {
    return static_cast<uint64_t>((static_cast<Wide>(engine_()) * n) >> 64);
  }
  double exponential(double mean) { return -mean * std::log(uniform()); }
  /// Pareto distribution: F(x) = 1 - (least / x)^shape.
  double pareto(double least, double shape) { return least * std::pow(uniform(), -1 / shape); }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  /// SplitMix64's finaliser: neighbouring seeds give unrelated streams.
  static constexpr uint64_t mix(uint64_t x) {
    x += kGolden;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  std::mt19937_64 engine_;
};

}  // namespace turnpike::sender
