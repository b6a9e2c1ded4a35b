// SPDX-License-Identifier: BSD-3-Clause
// Holds polling threads between two polls while another thread changes what they use.
//
// Example:
//
//     Barrier barrier;
//     barrier.resize(1);
//     std::thread worker([&] {                 // each turn of a polling thread
//       for (int polls = 0; polls < 1000; ++polls) barrier.pass(0);
//       barrier.leave(0);
//     });
//     barrier.close();
//     while (!barrier.full()) std::this_thread::yield();
//     barrier.open();                          // after the change
//     worker.join();
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include <rte_pause.h>

namespace turnpike::router {

/// One thread closes and opens it, the polling threads pass. An open barrier costs one load of a
/// line that no thread writes meanwhile.
class Barrier {
 public:
  /// Call before the threads start.
  void resize(unsigned threads) {
    held_ = std::make_unique<Place[]>(threads);
    threads_ = threads;
  }

  /// Waits while the barrier is closed; returns whether it was. Everything that the closing thread
  /// wrote before open() is visible then.
  bool pass(unsigned thread) {
    const uint32_t closing = closing_.load(std::memory_order_acquire);
    if (closing == kOpen) [[likely]]
      return false;
    wait(thread, closing);
    return true;
  }
  /// Whether pass() would wait.
  [[nodiscard]] bool closed() const { return closing_.load(std::memory_order_relaxed) != kOpen; }
  /// The thread polls no more.
  void leave(unsigned thread) { held_[thread].at.store(kGone, std::memory_order_release); }

  /// Asks all threads to wait at their next pass().
  void close() {
    if (++last_ == kGone) last_ = 1;
    closing_.store(last_, std::memory_order_release);
  }
  /// Whether all threads wait, or have left: what they wrote is visible then.
  [[nodiscard]] bool full() const { return first_missing() == threads_; }
  /// Numbers of the threads that do not wait.
  [[nodiscard]] std::string missing() const {
    std::string all;
    for (unsigned t = 0; t < threads_; ++t)
      if (!waits(t)) all += (all.empty() ? "" : ", ") + std::to_string(t);
    return all;
  }
  void open() { closing_.store(kOpen, std::memory_order_release); }

 private:
  static constexpr uint32_t kOpen = 0, kGone = UINT32_MAX;
  static constexpr unsigned kSpins = 2000;  // a pause takes microseconds; then others may run

  struct alignas(64) Place {
    std::atomic<uint32_t> at{kOpen};  // the closing at which the thread waits
  };

  void wait(unsigned thread, uint32_t closing) {
    held_[thread].at.store(closing, std::memory_order_release);
    for (unsigned spins = 0; closing_.load(std::memory_order_acquire) == closing; ++spins) {
      if (spins < kSpins) {
        rte_pause();
      } else {
        std::this_thread::yield();
      }
    }
  }
  [[nodiscard]] bool waits(unsigned thread) const {
    const uint32_t at = held_[thread].at.load(std::memory_order_acquire);
    return at == last_ || at == kGone;
  }
  [[nodiscard]] unsigned first_missing() const {
    unsigned t = 0;
    while (t < threads_ && waits(t)) ++t;
    return t;
  }

  alignas(64) std::atomic<uint32_t> closing_{kOpen};
  alignas(64) uint32_t last_ = 0;  // number of the last closing
  unsigned threads_ = 0;
  std::unique_ptr<Place[]> held_;
};

}  // namespace turnpike::router
