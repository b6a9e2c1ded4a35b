// SPDX-License-Identifier: BSD-3-Clause
// Properties that every entry of the registry must have.
#include "common/protocols/registry.h"

#include <cstddef>

#include <gtest/gtest.h>

namespace turnpike {
namespace {

TEST(Registry, AFlowsLawBeginsWhereItsStorageDoes) {
  for (const Protocol& p : protocols()) {
    alignas(64) std::byte storage[FlowLaw::kMaxBytes];
    FlowLaw* law = p.make_flow_law(ParamValues(p.flow_params), storage);
    EXPECT_EQ(static_cast<void*>(law), storage) << p.name;
    law->~FlowLaw();
  }
}

}  // namespace
}  // namespace turnpike
