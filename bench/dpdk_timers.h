// SPDX-License-Identifier: BSD-3-Clause
// DPDK's own timers, for comparison with ours.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_timer.h>

namespace turnpike::bench {

/// An array of rte_timers, all of this lcore; their clock is the time stamp counter.
class DpdkTimers {
 public:
  explicit DpdkTimers(size_t count) : timers_(std::make_unique<rte_timer[]>(count)), count_(count) {
    static const int ready = rte_timer_subsystem_init();
    if (ready != 0 && ready != -EALREADY) throw std::runtime_error("rte_timer does not start");
    for (size_t i = 0; i < count; ++i) rte_timer_init(&timers_[i]);
  }
  ~DpdkTimers() {
    for (size_t i = 0; i < count_; ++i) stop(i);
  }
  DpdkTimers(const DpdkTimers&) = delete;
  DpdkTimers& operator=(const DpdkTimers&) = delete;

  /// Arms the timer, or moves it if it is armed, to fire in `cycles`.
  void arm(size_t i, uint64_t cycles, rte_timer_cb_t fire, void* argument) {
    rte_timer_reset(&timers_[i], cycles, SINGLE, rte_lcore_id(), fire, argument);
  }
  void stop(size_t i) { rte_timer_stop(&timers_[i]); }

  [[nodiscard]] size_t size() const { return count_; }
  /// Index of a timer that fires.
  [[nodiscard]] size_t place(const rte_timer* t) const {
    return static_cast<size_t>(t - timers_.get());
  }
  [[nodiscard]] static uint64_t hz() { return rte_get_tsc_hz(); }

 private:
  std::unique_ptr<rte_timer[]> timers_;
  size_t count_;
};

}  // namespace turnpike::bench
