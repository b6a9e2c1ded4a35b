// SPDX-License-Identifier: BSD-3-Clause
// A disturbance of prices, for experiments on stability (figure 8 of the FCP paper).
#pragma once

#include <cstdint>

#include "common/protocols/fcp/params.h"
#include "common/protocols/random.h"
#include "common/units/units.h"

namespace turnpike::fcp {

/// A random factor within `noise` of 1 while a disturbance lasts, new for every price or for every
/// disturbance. `state`: of the generator (Marsaglia's xorshift64), not 0.
inline double price_noise(const ParamValues& params, uint64_t& state, Nanos now) {
  const int64_t every = from_seconds(params[kNoiseEvery]).count();
  if (now.count() % every >= from_seconds(params[kNoiseFor]).count()) return 1;
  if (static_cast<NoiseDraw>(params[kNoiseDraw]) == NoiseDraw::kWindow) {
    SplitMix64 window(state, static_cast<uint64_t>(now.count() / every));
    return 1 + params[kNoise] * (2 * window.uniform() - 1);
  }
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return 1 + params[kNoise] * (static_cast<double>(state >> 11) * 0x1p-52 - 1);
}

}  // namespace turnpike::fcp
