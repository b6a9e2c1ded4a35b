// SPDX-License-Identifier: BSD-3-Clause
// A disturbance of prices, for experiments on stability (figure 8 of the FCP paper).
#pragma once

#include <cstdint>

#include "common/protocols/fcp/params.h"
#include "common/units/units.h"

namespace turnpike::fcp {

/// A random factor within `noise` of 1, new for every price, while the disturbance lasts. `state`:
/// of the generator (Marsaglia's xorshift64), not 0.
inline double price_noise(const ParamValues& params, uint64_t& state, Nanos now) {
  if (now.count() % from_seconds(params[kNoiseEvery]).count() >=
      from_seconds(params[kNoiseFor]).count())
    return 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return 1 + params[kNoise] * (static_cast<double>(state >> 11) * 0x1p-52 - 1);
}

}  // namespace turnpike::fcp
