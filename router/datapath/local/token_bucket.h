// SPDX-License-Identifier: BSD-3-Clause
// A token bucket: a rate limit with a burst size.
#pragma once

#include <algorithm>

#include "common/units/units.h"

namespace turnpike::router {

class TokenBucket {
 public:
  TokenBucket() = default;
  /// `per_second`: rate; `depth`: burst size, both in tokens. Starts full.
  TokenBucket(double per_second, double depth)
      : per_second_(per_second), depth_(depth), tokens_(depth) {}

  /// Takes a token; false if there is none.
  bool take(Nanos now) {
    if (now > last_) {
      tokens_ = std::min(depth_, tokens_ + to_seconds(now - last_) * per_second_);
      last_ = now;
    }
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  double per_second_ = 0, depth_ = 0, tokens_ = 0;
  Nanos last_{0};
};

}  // namespace turnpike::router
