// SPDX-License-Identifier: BSD-3-Clause
// A network namespace that a test makes, and that ends with it.
#pragma once

#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

namespace turnpike::testing {

/// Runs `act` on a thread in a new network namespace. False: this user may not make one.
inline bool in_new_namespace(const std::function<void()>& act) {
  bool able = false;
  std::thread([&] {
    able = unshare(CLONE_NEWNET) == 0 && access("/dev/net/tun", R_OK | W_OK) == 0;
    if (able) act();
  }).join();
  return able;
}

}  // namespace turnpike::testing

#define IN_NEW_NAMESPACE(...)                              \
  if (!::turnpike::testing::in_new_namespace(__VA_ARGS__)) \
  GTEST_SKIP() << "takes root and /dev/net/tun"
