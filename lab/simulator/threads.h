// SPDX-License-Identifier: BSD-3-Clause
// Threads that simulate parts of a world: oneTBB's.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace turnpike::lab {

/// EAL knows the threads, so that each has a cache of its own in pools of packet buffers.
class Threads {
 public:
  /// `count`: with the calling one. 1: makes no thread.
  explicit Threads(unsigned count);
  ~Threads();

  /// Calls `call(i)` for each i below `n`, as many at a time as there are threads. Returns when all
  /// have returned; what they wrote is visible then.
  void for_each(size_t n, const std::function<void(size_t)>& call);

 private:
  class Arena;
  std::unique_ptr<Arena> arena_;  // null: one thread
};

}  // namespace turnpike::lab
