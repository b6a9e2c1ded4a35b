// SPDX-License-Identifier: BSD-3-Clause
// Keeps memif's shared memory mapped while an lcore is in the middle of a burst on it.
//
// When a memif neighbour disconnects, DPDK 22.11 marks the port as down and unmaps the rings at
// once, on its interrupt thread. It does not wait for lcores that read the mark a moment ago, and
// they crash. So every burst on a memif port announces itself and reads the mark, and munmap(),
// which the driver calls after setting the mark, first waits until each queue has been outside a
// burst.
#pragma once

#include <atomic>
#include <cstdint>

namespace turnpike {

/// One queue pair's guard, written by the lcore that polls it.
class MemifGuard {
 public:
  MemifGuard();
  ~MemifGuard();
  MemifGuard(const MemifGuard&) = delete;
  MemifGuard& operator=(const MemifGuard&) = delete;

  /// Around a burst.
  class Burst {
   public:
    explicit Burst(MemifGuard& guard) : turns_(guard.turns_) {
      turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      // Before the driver reads the mark; pairs with the fence in wait_outside().
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    ~Burst() {
      turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    Burst(const Burst&) = delete;
    Burst& operator=(const Burst&) = delete;

   private:
    std::atomic<uint32_t>& turns_;
  };

  /// Returns when every guarded queue pair has been outside a burst at some moment since the call.
  static void wait_outside();

 private:
  std::atomic<uint32_t> turns_{0};  // odd: inside a burst; one writer
};

}  // namespace turnpike
