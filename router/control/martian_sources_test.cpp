// SPDX-License-Identifier: BSD-3-Clause
// A NIC that drops martian sources drops nothing that the router would forward.
#include "router/control/martian_sources.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

std::string text_of(const SourcePrefix& prefix, std::array<uint8_t, 16> address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(prefix.ipv6 ? AF_INET6 : AF_INET, address.data(), text.data(), text.size());
  return text.data();
}

/// The prefix with other bits behind its length.
std::array<uint8_t, 16> with_host_bits(const SourcePrefix& prefix,
                                       const std::function<bool(unsigned)>& set) {
  std::array<uint8_t, 16> address = prefix.address;
  for (unsigned bit = prefix.length; bit < (prefix.ipv6 ? 128U : 32U); ++bit)
    if (set(bit)) address[bit / 8] = static_cast<uint8_t>(address[bit / 8] | 0x80U >> bit % 8);
  return address;
}

Frame from(const SourcePrefix& prefix, const std::string& source) {
  return prefix.ipv6 ? v6({.source = source.c_str()}) : v4({.source = source.c_str()});
}

TEST(MartianSources, TheRouterDropsThemAll) {
  std::mt19937 random(7);
  for (const SourcePrefix& prefix : kMartianSources) {
    std::vector<std::string> sources{
        text_of(prefix, with_host_bits(prefix, [](unsigned) { return false; })),
        text_of(prefix, with_host_bits(prefix, [](unsigned) { return true; }))};
    for (int i = 0; i < 20; ++i)
      sources.push_back(
          text_of(prefix, with_host_bits(prefix, [&](unsigned) { return (random() & 1) != 0; })));
    for (const std::string& source : sources) {
      SCOPED_TRACE(source + " of " + prefix.text);
      World w;
      w.arrive(0, from(prefix, source));
      w.poll(w.now);
      w.expect_one_drop(DropReason::kMartianSource);
    }
  }
}

TEST(MartianSources, TextAndBytesAgree) {
  for (const SourcePrefix& prefix : kMartianSources)
    EXPECT_EQ(text_of(prefix, prefix.address) + "/" + std::to_string(prefix.length), prefix.text);
}

TEST(MartianSources, DhcpReachesLinux) {
  EXPECT_EQ(martian_sources(false).size(), kMartianSources.size());
  for (const SourcePrefix& prefix : martian_sources(true)) EXPECT_STRNE(prefix.text, "0.0.0.0/8");
}

TEST(NicDrops, CountAsReceivedAndDropped) {
  World w;
  w.arrive(0, v4({.source = "127.0.0.1"}));
  w.poll(w.now);
  const Snapshot before = w.snapshot();
  w.router().set_nic_drops(0, 5);
  w.router().set_nic_drops(0, 7);  // the total, not an increment
  const Snapshot after = w.snapshot();
  EXPECT_EQ(after.received, before.received + 7);
  EXPECT_EQ(after.links[0].rx_packets, before.links[0].rx_packets + 7);
  EXPECT_EQ(after.links[0].rx_bytes, before.links[0].rx_bytes);
  EXPECT_EQ(after.links[1].rx_packets, before.links[1].rx_packets);
  const auto reason = static_cast<size_t>(DropReason::kMartianSource);
  EXPECT_EQ(after.drops[reason], 8U);
  EXPECT_EQ(after.links[0].drops[reason], 8U);
  EXPECT_EQ(after.received_by, before.received_by) << "no worker has received them";
  EXPECT_EQ(after.imbalance(), before.imbalance());
  EXPECT_TRUE(after.conserved());
}

}  // namespace
}  // namespace turnpike::router::test
