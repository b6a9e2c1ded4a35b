// SPDX-License-Identifier: BSD-3-Clause
// Tells a writer when all workers have let go of what they read before (RCU by quiescent states).
#pragma once

#include <cstdint>
#include <memory>

#include <rte_malloc.h>
#include <rte_pause.h>
#include <rte_rcu_qsbr.h>

namespace turnpike::router {

/// Threads have numbers below the one given to make(). A thread that is online and does not call
/// quiescent() makes the writer wait; one that is offline holds no reference and is not waited for.
/// Threads are offline at first, so that a single thread which polls all workers waits for none.
class Quiescence {
 public:
  using Token = uint64_t;

  /// Null: no memory.
  static std::unique_ptr<Quiescence> make(unsigned threads, int socket) {
    const size_t size = rte_rcu_qsbr_get_memsize(threads);
    auto* state = static_cast<rte_rcu_qsbr*>(
        rte_zmalloc_socket("quiescence", size, RTE_CACHE_LINE_SIZE, socket));
    if (state == nullptr) return nullptr;
    rte_rcu_qsbr_init(state, threads);
    for (unsigned t = 0; t < threads; ++t) rte_rcu_qsbr_thread_register(state, t);
    return std::unique_ptr<Quiescence>(new Quiescence(state));
  }

  // For the thread with that number.
  /// It may hold references from now on. Contains a memory barrier.
  void online(unsigned thread) { rte_rcu_qsbr_thread_online(state_.get(), thread); }
  /// It holds none, and takes none until online().
  void offline(unsigned thread) { rte_rcu_qsbr_thread_offline(state_.get(), thread); }
  /// It holds none that it had before. Two loads, and a store after start().
  void quiescent(unsigned thread) { rte_rcu_qsbr_quiescent(state_.get(), thread); }

  // For the writer.
  /// Call once new references can no longer be taken.
  Token start() { return rte_rcu_qsbr_start(state_.get()); }
  [[nodiscard]] bool passed(Token token) {
    return rte_rcu_qsbr_check(state_.get(), token, false) == 1;
  }

 private:
  struct Free {
    void operator()(rte_rcu_qsbr* state) const { rte_free(state); }
  };
  explicit Quiescence(rte_rcu_qsbr* state) : state_(state) {}

  std::unique_ptr<rte_rcu_qsbr, Free> state_;
};

}  // namespace turnpike::router
