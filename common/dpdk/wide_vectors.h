// SPDX-License-Identifier: BSD-3-Clause
// DPDK's limit on the width of vectors, which libraries ask when they choose among their functions.
#pragma once

#include <cstdint>

namespace turnpike {

/// While it lives, DPDK's libraries may choose functions with vectors of 512 bits. Their default
/// limit is 256, as early CPUs with AVX-512 lower their clock for it; the limit also applies to
/// drivers, so it is not raised for good. Does nothing where EAL's --force-max-simd-bitwidth has
/// set the limit. For the thread that starts EAL.
class WideVectors {
 public:
  WideVectors();
  ~WideVectors();
  WideVectors(const WideVectors&) = delete;
  WideVectors& operator=(const WideVectors&) = delete;

 private:
  uint16_t before_;
};

}  // namespace turnpike
