// SPDX-License-Identifier: BSD-3-Clause
#include "common/wire/checksum.h"

#include "common/wire/widest.h"

namespace turnpike::wire {

// The compiler vectorises the inner loop for vectors of up to 64 bytes.
TURNPIKE_WIDEST
uint64_t sum_blocks(const uint8_t* data, size_t blocks) {
  constexpr size_t kLanes = kSumBlock / sizeof(uint64_t);
  uint64_t lanes[kLanes] = {};
  for (const uint8_t* const end = data + blocks * kSumBlock; data != end; data += kSumBlock)
    for (size_t lane = 0; lane < kLanes; ++lane) {
      uint64_t word;
      std::memcpy(&word, data + lane * sizeof word, sizeof word);
      lanes[lane] += (word & UINT32_MAX) + (word >> 32);
    }
  uint64_t sum = 0;
  for (const uint64_t lane : lanes) sum += lane;
  return sum;
}

}  // namespace turnpike::wire
