// SPDX-License-Identifier: BSD-3-Clause
#include "common/parallel/threads.h"

#include <algorithm>
#include <atomic>
#include <new>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

namespace turnpike {

class Threads::Arena final : private tbb::task_scheduler_observer {
 public:
  // The observer keeps the arena's address, and uses the arena from observe() on.
  Arena(unsigned count, ThreadHooks hooks)
      : tbb::task_scheduler_observer(arena_),
        hooks_(hooks),
        limit_(tbb::global_control::max_allowed_parallelism, count),
        arena_(static_cast<int>(count)) {
    observe(true);
  }
  // Waits until the threads have ended: their hooks may need the caller's objects.
  ~Arena() override {
    arena_.terminate();
    tbb::finalize(scheduler_, std::nothrow);
    observe(false);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // oneTBB orders the calls after what the caller wrote, and its return after the calls; what a
  // thread's hooks give back, another thread may get. The atomics say the same to ThreadSanitizer,
  // which sees neither into the library nor into EAL.
  void for_each(size_t n, const std::function<void(size_t)>& call) {
    const auto visible = [&](size_t i) {
      (void)begun_.load(std::memory_order_acquire);
      call(i);
      ended_.fetch_add(1, std::memory_order_release);
    };
    begun_.fetch_add(1, std::memory_order_release);
    arena_.execute([&] { tbb::parallel_for(size_t{0}, n, visible, tbb::simple_partitioner()); });
    (void)ended_.load(std::memory_order_acquire);
  }

 private:
  void on_scheduler_entry(bool is_worker) override {
    if (is_worker && hooks_.begin != nullptr) hooks_.begin();
    (void)left_.load(std::memory_order_acquire);
  }
  void on_scheduler_exit(bool is_worker) override {
    left_.fetch_add(1, std::memory_order_release);
    if (is_worker && hooks_.end != nullptr) hooks_.end();
  }

  ThreadHooks hooks_;
  std::atomic<size_t> begun_{0}, ended_{0}, left_{0};  // loops, calls, and threads' work here
  tbb::task_scheduler_handle scheduler_{tbb::attach{}};
  tbb::global_control limit_;  // else as many as there are processors
  tbb::task_arena arena_;
};

Threads::Threads(unsigned count, ThreadHooks hooks)
    : count_(std::max(count, 1U)),
      arena_(count > 1 ? std::make_unique<Arena>(count, hooks) : nullptr) {}
Threads::~Threads() = default;

void Threads::for_each(size_t n, const std::function<void(size_t)>& call) const {
  if (arena_) return arena_->for_each(n, call);
  for (size_t i = 0; i < n; ++i) call(i);
}

}  // namespace turnpike
