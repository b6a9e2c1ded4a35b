// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/memif_guard.h"

#include <mutex>
#include <vector>

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace turnpike {

namespace {

struct Guards {
  std::mutex mutex;
  std::vector<const std::atomic<uint32_t>*> turns;
};

Guards& guards() {
  // Never destroyed: memory is still unmapped during static destruction.
  static Guards& g = *new Guards;
  return g;
}

}  // namespace

MemifGuard::MemifGuard() {
  Guards& g = guards();
  const std::lock_guard lock(g.mutex);
  g.turns.push_back(&turns_);
}

MemifGuard::~MemifGuard() {
  Guards& g = guards();
  const std::lock_guard lock(g.mutex);
  std::erase(g.turns, &turns_);
}

void MemifGuard::wait_outside() {
  Guards& g = guards();
  const std::lock_guard lock(g.mutex);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const std::atomic<uint32_t>* turns : g.turns) {
    const uint32_t seen = turns->load(std::memory_order_acquire);
    while (seen % 2 == 1 && turns->load(std::memory_order_acquire) == seen) sched_yield();
  }
}

}  // namespace turnpike

/// Replaces libc's function in the whole program: the driver has no other place to wait.
extern "C" int munmap(void* addr, size_t len) noexcept {
  turnpike::MemifGuard::wait_outside();
  return static_cast<int>(syscall(SYS_munmap, addr, len));
}
