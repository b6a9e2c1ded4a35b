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

TEST(Ports, AreSharedByLinksInVlans) {
  const std::string three = R"(hosts: { a: { external: true }, b: { external: true }, c: {} }
routers: { gate: {} }
links:
  left: { ends: [a, gate], rate: 1 Gbps, vlan: 10, attach: { gate: { af_packet: eth0 } } }
  right: { ends: [gate, b], rate: 1 Gbps, vlan: 20, attach: { gate: { af_packet: eth0 } } }
  other: { ends: [gate, c], rate: 1 Gbps, attach: { gate: { af_packet: eth1 } } }
)";
  const auto t = config::load_text(three, "test");
  ASSERT_TRUE(t) << t.error().front().text();
  const auto devices = link_devices(*t, 0, 2);
  ASSERT_TRUE(devices) << devices.error();
  EXPECT_EQ((*devices)[0].port, 0U);
  EXPECT_EQ((*devices)[1].port, 0U);
  EXPECT_EQ((*devices)[2].port, 1U);
  EXPECT_EQ((*devices)[1].device.name, (*devices)[0].device.name);
  EXPECT_EQ((*devices)[1].queues, 2);
}

TEST(Ports, OfOnePciDeviceAreNamedOnce) {
  const std::string two = R"(hosts: { a: { external: true }, b: { external: true } }
routers: { gate: {} }
links:
  left: { ends: [a, gate], rate: 1 Gbps, vlan: 10, attach: { gate: { pci: 0000:01:00.0 } } }
  right: { ends: [gate, b], rate: 1 Gbps, attach: { gate: { pci: 0000:01:00.0 } } }
)";
  const auto t = config::load_text(two, "test");
  ASSERT_TRUE(t) << t.error().front().text();
  EXPECT_EQ(pci_addresses(*t, 0), std::vector<std::string>{"0000:01:00.0"});
}

TEST(Ports, CopiesOnTreesNeedChains) {
  const auto with_tree =
      between(kNic1, kNic2, "trees: { video: { group: 239.1.0.1, root: a, receivers: [b, c] } }\n");
  EXPECT_TRUE(sends_chains(with_tree, 0));
}

}  // namespace
}  // namespace turnpike::router
