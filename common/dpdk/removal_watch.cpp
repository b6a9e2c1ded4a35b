// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/removal_watch.h"

#include <cerrno>
#include <utility>

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <sched.h>

namespace turnpike {
namespace {

void note(void* removed) {
  static_cast<std::atomic<bool>*>(removed)->store(true, std::memory_order_relaxed);
}

void on_bus_event(const char* /*device*/, rte_dev_event_type event, void* removed) {
  if (event == RTE_DEV_EVENT_REMOVE) note(removed);
}

int on_removal(uint16_t /*port*/, rte_eth_event_type /*event*/, void* removed, void* /*result*/) {
  note(removed);
  return 0;
}

}  // namespace

RemovalWatch::RemovalWatch(std::string device, uint16_t port)
    : device_(std::move(device)), port_(port) {
  rte_dev_event_callback_register(device_.c_str(), on_bus_event, &removed_);
  rte_eth_dev_callback_register(port_, RTE_ETH_EVENT_INTR_RMV, on_removal, &removed_);
}

RemovalWatch::~RemovalWatch() {
  // EAGAIN: the callback runs at this time.
  while (rte_eth_dev_callback_unregister(port_, RTE_ETH_EVENT_INTR_RMV, on_removal, &removed_) ==
         -EAGAIN)
    sched_yield();
  while (rte_dev_event_callback_unregister(device_.c_str(), on_bus_event, &removed_) == -EAGAIN)
    sched_yield();
}

}  // namespace turnpike
