// SPDX-License-Identifier: BSD-3-Clause
// The machine's clock.
#pragma once

#include <cstdint>
#include <ctime>

namespace turnpike {

/// UNIX time, ns.
inline int64_t unix_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace turnpike
