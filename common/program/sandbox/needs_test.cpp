// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/sandbox/needs.h"

#include <gtest/gtest.h>

namespace turnpike {
namespace {

SandboxNeeds needs_of(const config::Attachment& port) {
  const config::Attachment* const ports[] = {&port};
  return needs_of_ports(ports);
}

TEST(SandboxNeeds, PortsInMemoryAndOpenSocketsNeedNoCapability) {
  for (const config::Attachment& port :
       {config::Attachment(config::AttachMemif{"%t/a", 0, true}),
        config::Attachment(config::AttachRing{}), config::Attachment(config::AttachPcap{}),
        config::Attachment(config::AttachAfPacket{"eth0"}),
        config::Attachment(config::AttachVdev{"net_memif0,role=client"}),
        config::Attachment(config::AttachVdev{"net_null0"})}) {
    const SandboxNeeds needs = needs_of(port);
    EXPECT_EQ(needs.capabilities, 0U) << port.index();
    EXPECT_FALSE(needs.calls.netlink || needs.calls.bpf || needs.calls.ioctl_net) << port.index();
  }
}

TEST(SandboxNeeds, XdpRemovesItsProgramAtTheEnd) {
  const SandboxNeeds needs = needs_of(config::AttachAfXdp{"eth0"});
  EXPECT_EQ(needs.capabilities, kNetworkCapabilities | capability(CAP_BPF));
  EXPECT_TRUE(needs.calls.bpf && needs.calls.netlink);
}

TEST(SandboxNeeds, UnknownDriversKeepTheNetworks) {
  EXPECT_NE(needs_of(config::AttachVdev{"net_other0"}).capabilities, 0U);
}

TEST(SandboxNeeds, AbstractSocketsOnlyForClients) {
  EXPECT_TRUE(needs_of(config::AttachMemif{"@a", 0, false}).abstract_sockets);
  EXPECT_FALSE(needs_of(config::AttachMemif{"@a", 0, true}).abstract_sockets);
  EXPECT_FALSE(needs_of(config::AttachMemif{"%t/a", 0, false}).abstract_sockets);
}

TEST(SandboxNeeds, LinuxControlKeepsRouteRequests) {
  SandboxNeeds needs;
  needs.add_linux_control();
  EXPECT_EQ(needs.capabilities, capability(CAP_NET_ADMIN));
  EXPECT_TRUE(needs.calls.netlink && needs.calls.tap);
}

TEST(Capabilities, HaveNames) {
  EXPECT_EQ(capabilities_text(0), "none");
  EXPECT_EQ(capabilities_text(~Capabilities{0}), "all");
  EXPECT_EQ(capabilities_text(kNetworkCapabilities), "CAP_NET_ADMIN CAP_NET_RAW");
  EXPECT_EQ(capabilities_text(1), "capability 0");
}

}  // namespace
}  // namespace turnpike
