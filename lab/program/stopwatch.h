// SPDX-License-Identifier: BSD-3-Clause
// Measures wall time for messages.
#pragma once

#include <chrono>

namespace turnpike::lab {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace turnpike::lab
