// SPDX-License-Identifier: BSD-3-Clause
#include "operator/support/mask.h"

#include <gtest/gtest.h>

namespace turnpike::ops {
namespace {

TEST(Mask, ReplacesEachAddressByTheSameWordEverywhere) {
  Mask mask;
  EXPECT_EQ(mask("via 10.0.1.2 dev eth0, and 10.0.1.2:4747, 10.0.1.3/24"),
            "via ipv4-1 dev eth0, and ipv4-1:4747, ipv4-2/24\n");
  EXPECT_EQ(mask("\"10.0.1.2\""), "\"ipv4-1\"\n");
  EXPECT_EQ(mask("link/ether 02:54:50:00:03:02 brd 02:54:50:00:03:02"),
            "link/ether mac-1 brd mac-1\n");
  EXPECT_EQ(mask("fd00:1::2, fd00:1:0::2 and fd00::1/64"), "ipv6-1, ipv6-1 and ipv6-2/64\n");
}

TEST(Mask, KeepsWhatIsNoAddress) {
  Mask mask;
  const std::string text =
      "at 17:28:11.335 DPDK 22.11.11, face: dead, 127.0.0.1 ::1 0.0.0.0 1.5e-3\n";
  EXPECT_EQ(mask(text), text);
}

TEST(Mask, HidesSecretsAndTheMachinesName) {
  Mask mask("edge7");
  EXPECT_EQ(mask("  bgp_password: hunter2"), "  bgp_password: masked\n");
  EXPECT_EQ(mask("API_TOKEN=abc"), "API_TOKEN= masked\n");
  EXPECT_EQ(mask("Linux edge7 6.1"), "Linux host-1 6.1\n");
}

}  // namespace
}  // namespace turnpike::ops
