// SPDX-License-Identifier: BSD-3-Clause
#include "lab/simulator/threads.h"

#include <new>

#include <rte_lcore.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

namespace turnpike::lab {

class Threads::Arena final : private tbb::task_scheduler_observer {
 public:
  // The observer keeps the arena's address, and uses the arena from observe() on.
  explicit Arena(unsigned count)
      : tbb::task_scheduler_observer(arena_),
        limit_(tbb::global_control::max_allowed_parallelism, count),
        arena_(static_cast<int>(count)) {
    observe(true);
  }
  // Waits until the threads have ended: each gives its lcore id back as it ends, while EAL runs.
  ~Arena() override {
    arena_.terminate();
    tbb::finalize(scheduler_, std::nothrow);
    observe(false);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void for_each(size_t n, const std::function<void(size_t)>& call) {
    arena_.execute([&] { tbb::parallel_for(size_t{0}, n, call, tbb::simple_partitioner()); });
  }

 private:
  // A thread without an lcore id, if EAL has none left, works without caches.
  void on_scheduler_entry(bool is_worker) override {
    if (is_worker && rte_lcore_id() == LCORE_ID_ANY) rte_thread_register();
  }
  void on_scheduler_exit(bool is_worker) override {
    if (is_worker) rte_thread_unregister();
  }

  tbb::task_scheduler_handle scheduler_{tbb::attach{}};
  tbb::global_control limit_;  // else as many as there are processors
  tbb::task_arena arena_;
};

Threads::Threads(unsigned count) : arena_(count > 1 ? std::make_unique<Arena>(count) : nullptr) {}
Threads::~Threads() = default;

void Threads::for_each(size_t n, const std::function<void(size_t)>& call) {
  if (arena_) return arena_->for_each(n, call);
  for (size_t i = 0; i < n; ++i) call(i);
}

}  // namespace turnpike::lab
