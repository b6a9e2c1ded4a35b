// SPDX-License-Identifier: BSD-3-Clause
// An alarm's callback runs on the interrupt thread but must return, since rte_eal_cleanup() waits
// until no alarm is executing. Parking the thread takes an interrupt source of our own.
#include "common/dpdk/interrupt_thread.h"

#include <atomic>
#include <semaphore>

#include <rte_alarm.h>
#include <rte_interrupts.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace turnpike {

namespace {
std::atomic<bool> is_parked{false};
}  // namespace

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
  if (is_parked.load() || rte_eal_alarm_set(1, run, &task) != 0) {
    act();
    return;
  }
  task.done.acquire();
}

void park_interrupt_thread() {
  if (is_parked.load()) return;
  static std::binary_semaphore parked{0};
  const auto park = [](void*) {
    parked.release();
    for (;;) pause();
  };
  // Never freed: the thread uses both until the process ends.
  static rte_intr_handle* const handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
  const int signal = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);  // readable from the start
  if (handle != nullptr && signal >= 0 && rte_intr_fd_set(handle, signal) == 0 &&
      rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) == 0 &&
      rte_intr_callback_register(handle, park, nullptr) == 0) {
    parked.acquire();
    is_parked.store(true);
  }
}

}  // namespace turnpike
