// SPDX-License-Identifier: BSD-3-Clause
// DPDK for tests that play whole experiments: include this, and EAL is up before the first.
#pragma once

#include <optional>

#include <gtest/gtest.h>

#include "common/dpdk/eal.h"

namespace turnpike::lab {

class Dpdk final : public testing::Environment {
  void SetUp() override {
    auto eal = Eal::start({.program = "test", .memory_mb = 1024});
    ASSERT_TRUE(eal) << eal.error();
    eal_.emplace(std::move(*eal));
  }
  void TearDown() override { eal_.reset(); }
  std::optional<Eal> eal_;
};

inline testing::Environment* const kDpdk = testing::AddGlobalTestEnvironment(new Dpdk);

}  // namespace turnpike::lab
