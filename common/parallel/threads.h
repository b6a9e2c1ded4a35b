// SPDX-License-Identifier: BSD-3-Clause
// Work beside the packet path on several threads: oneTBB's.
//
// Example:
//
//     #include <cstdio>
//     #include <vector>
//
//     Threads threads(2);
//     std::vector<size_t> squares(10);
//     threads.for_each(squares.size(), [&](size_t i) { squares[i] = i * i; });
//     for (const size_t square : squares) std::printf("%zu\n", square);
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace turnpike {

/// Called in each thread but the calling one, when it begins to work here and when it ends.
struct ThreadHooks {
  void (*begin)() = nullptr;
  void (*end)() = nullptr;
};

class Threads {
 public:
  /// `count`: with the calling one. 1: makes no thread.
  explicit Threads(unsigned count = 1, ThreadHooks hooks = {});
  /// Waits until the threads have ended.
  ~Threads();

  /// That work at a time, at most.
  [[nodiscard]] unsigned count() const { return count_; }

  /// Calls `call(i)` for each i below `n`, as many at a time as there are threads. Returns when all
  /// have returned; what they wrote is visible then. Results must not depend on the order of calls.
  void for_each(size_t n, const std::function<void(size_t)>& call) const;

 private:
  class Arena;
  unsigned count_;
  std::unique_ptr<Arena> arena_;  // null: one thread
};

}  // namespace turnpike
