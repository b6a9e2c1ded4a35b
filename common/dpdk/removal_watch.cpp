// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/removal_watch.h"

#include <cerrno>
#include <utility>

#include <rte_dev.h>
#include <sched.h>

namespace turnpike {
namespace {

void note(const char* /*device*/, rte_dev_event_type event, void* removed) {
  if (event == RTE_DEV_EVENT_REMOVE)
    static_cast<std::atomic<bool>*>(removed)->store(true, std::memory_order_relaxed);
}

}  // namespace

RemovalWatch::RemovalWatch(std::string device) : device_(std::move(device)) {
  rte_dev_event_callback_register(device_.c_str(), note, &removed_);
}

RemovalWatch::~RemovalWatch() {
  // EAGAIN: the callback runs at this time.
  while (rte_dev_event_callback_unregister(device_.c_str(), note, &removed_) == -EAGAIN)
    sched_yield();
}

}  // namespace turnpike
