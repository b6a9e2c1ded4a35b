// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/ports.h"

#include <gtest/gtest.h>

#include "common/config/load.h"

namespace turnpike::router {
namespace {

/// A router between two hosts.
config::Topology between(const std::string& left, const std::string& right,
                         const std::string& rest = "") {
  const auto t = config::load_text(
      "hosts: { a: { budget: 1 $/s }, b: {}, c: {} }\n"
      "routers: { gate: {} }\n"
      "links:\n"
      "  left: { ends: [a, gate], rate: 1 Gbps, " +
          left +
          " }\n"
          "  right: { ends: [gate, b], rate: 1 Gbps, " +
          right +
          " }\n"
          "  other: { ends: [gate, c], rate: 1 Gbps, "
          "attach: { gate: { pci: 0000:03:00.0 } } }\n" +
          rest,
      "test");
  EXPECT_TRUE(t) << t.error().front().text();
  return *t;
}

constexpr const char* kNic1 = "attach: { gate: { pci: 0000:01:00.0 } }";
constexpr const char* kNic2 = "attach: { gate: { pci: 0000:02:00.0 } }";

TEST(Ports, NicsWithTheSameMtuSendSingleSegments) {
  EXPECT_FALSE(sends_chains(between(kNic1, kNic2), 0));
}

TEST(Ports, FragmentsAndMemifNeedChains) {
  EXPECT_TRUE(sends_chains(between(kNic1, kNic2 + std::string(", mtu: 1400")), 0));
  EXPECT_TRUE(sends_chains(between(kNic1, "attach: memif"), 0));
}

TEST(Ports, CopiesOnTreesNeedChains) {
  const auto with_tree =
      between(kNic1, kNic2, "trees: { video: { group: 239.1.0.1, root: a, receivers: [b, c] } }\n");
  EXPECT_TRUE(sends_chains(with_tree, 0));
}

}  // namespace
}  // namespace turnpike::router
