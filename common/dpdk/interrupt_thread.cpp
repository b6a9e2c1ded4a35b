// SPDX-License-Identifier: BSD-3-Clause
// An alarm's callback is the way onto that thread.
#include "common/dpdk/interrupt_thread.h"

#include <semaphore>

#include <rte_alarm.h>
#include <unistd.h>

namespace turnpike {

void on_interrupt_thread(const std::function<void()>& act) {
  struct Task {
    const std::function<void()>& act;
    std::binary_semaphore done{0};
  } task{act};
  const auto run = [](void* argument) {
    auto* t = static_cast<Task*>(argument);
    t->act();
    t->done.release();
  };
  if (rte_eal_alarm_set(1, run, &task) != 0) {
    act();
    return;
  }
  task.done.acquire();
}

void park_interrupt_thread() {
  static std::binary_semaphore parked{0};
  const auto park = [](void*) {
    parked.release();
    for (;;) pause();
  };
  if (rte_eal_alarm_set(1, park, nullptr) == 0) parked.acquire();
}

}  // namespace turnpike
