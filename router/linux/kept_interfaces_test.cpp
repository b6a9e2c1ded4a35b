// SPDX-License-Identifier: BSD-3-Clause
// Interfaces that outlive the object that made them, in a network namespace of the test's own.
#include "router/linux/kept_interfaces.h"

#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>
#include <net/if.h>

#include "common/config/address.h"
#include "router/linux/linux_interfaces.h"
#include "router/linux/tap.h"
#include "tests/support/network_namespace.h"

namespace turnpike::router {
namespace {

const Prefix kFirstPrefix = *config::parse_ipv4_prefix("10.0.1.1/24"),
             kSecondPrefix = *config::parse_ipv4_prefix("10.0.2.1/31"),
             kThirdPrefix = *config::parse_ipv6_prefix("fd00:1::1/64");
const InterfaceMark kMark{
    .router = "gate", .link = "uplink", .addresses = {kFirstPrefix, kThirdPrefix}};

TEST(InterfaceMark, IsReadAsWritten) {
  EXPECT_EQ(to_text(kMark), "turnpike router=gate link=uplink addresses=10.0.1.1/24,fd00:1::1/64");
  const auto read = parse_mark(to_text(kMark));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->router, "gate");
  EXPECT_EQ(read->link, "uplink");
  EXPECT_EQ(to_text(*read), to_text(kMark));
  EXPECT_TRUE(parse_mark("turnpike router=gate link=uplink")->addresses.empty());
  for (const char* text : {"", "turnpike", "uplink of the gate", "turnpike router= link=x",
                           "turnpike router=a addresses=10.0.0.1", "turnpikes router=a"})
    EXPECT_FALSE(parse_mark(text)) << text;
}

std::string addresses() {
  std::string text;
  FILE* out = popen("ip -o address show dev tp0 scope global | awk '{print $4}'", "r");
  for (int c = 0; (c = std::fgetc(out)) != EOF;) text += static_cast<char>(c == '\n' ? ' ' : c);
  pclose(out);
  return text;
}

/// A process's interface, as LinuxInterfaces makes it.
Tap made(const InterfaceMark& mark, bool adopted) {
  auto kept = KeptInterfaces::find("gate", "");
  EXPECT_TRUE(kept && kept->has("tp0") == adopted);
  auto tap = Tap::open({.name = "tp0", .mac = {2, 0, 0, 0, 0, 1}, .adopt = adopted});
  EXPECT_TRUE(tap) << tap.error();
  const auto marked = kept->mark(tap->index(), "tp0", mark);
  EXPECT_TRUE(marked) << marked.error();
  return std::move(*tap);
}

TEST(KeptInterfaces, VanishUnlessTheyAreKept) {
  IN_NEW_NAMESPACE([] {
    { const Tap tap = made(kMark, false); }
    EXPECT_EQ(if_nametoindex("tp0"), 0U);
  });
}

TEST(KeptInterfaces, AreTakenOverWithAllThatLinuxChanged) {
  IN_NEW_NAMESPACE([] {
    unsigned index = 0;
    {
      Tap tap = made(kMark, false);
      ASSERT_TRUE(tap.keep());
      index = tap.index();
      EXPECT_EQ(addresses(), "10.0.1.1/24 fd00:1::1/64 ");
    }
    ASSERT_EQ(std::system("ip address add 10.9.0.1/24 dev tp0; ip address del 10.0.1.1/24 dev tp0"),
              0);
    {
      const Tap tap = made(kMark, true);
      EXPECT_EQ(tap.index(), index);
      EXPECT_EQ(addresses(), "10.9.0.1/24 fd00:1::1/64 ") << "Linux owns them";
      const auto other = Tap::open({.name = "tp0", .mac = {2, 0, 0, 0, 0, 1}, .adopt = true});
      ASSERT_FALSE(other);
      EXPECT_NE(other.error().find("running already"), std::string::npos) << other.error();
      const auto removed = Tap::remove("tp0", "");
      EXPECT_FALSE(removed) << "a process has it open";
    }
    // The file has another address now: it replaces the former one, and no other.
    InterfaceMark changed = kMark;
    changed.addresses = {kSecondPrefix, kThirdPrefix};
    { const Tap tap = made(changed, true); }
    EXPECT_EQ(addresses(), "10.9.0.1/24 10.0.2.1/31 fd00:1::1/64 ");
  });
}

TEST(KeptInterfaces, OfOneRouterAreRemoved) {
  IN_NEW_NAMESPACE([] {
    { ASSERT_TRUE(made(kMark, false).keep()); }
    auto others = KeptInterfaces::find("another", "");
    ASSERT_TRUE(others);
    EXPECT_TRUE(others->names().empty());
    auto kept = KeptInterfaces::find("gate", "");
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->names(), std::vector<std::string>{"tp0"});
    const auto removed = kept->remove("tp0");
    EXPECT_TRUE(removed) << removed.error();
    EXPECT_EQ(if_nametoindex("tp0"), 0U);
  });
}

TEST(KeptInterfaces, OfAnyRouterAreRemoved) {
  IN_NEW_NAMESPACE([] {
    { ASSERT_TRUE(made(kMark, false).keep()); }
    auto busy = Tap::open({.name = "tp1", .mac = {2, 0, 0, 0, 0, 2}});
    ASSERT_TRUE(busy);
    auto running = KeptInterfaces::find("other", "");
    ASSERT_TRUE(running->mark(busy->index(), "tp1", {.router = "other", .link = "uplink"}));
    ASSERT_TRUE(busy->keep());
    auto removed = LinuxInterfaces::remove_all({""});
    EXPECT_EQ(removed.names, std::vector<std::string>{"tp0"});
    ASSERT_EQ(removed.errors.size(), 1U);
    EXPECT_NE(removed.errors[0].find("'tp1'"), std::string::npos) << removed.errors[0];
    { const Tap end = std::move(*busy); }
    removed = LinuxInterfaces::remove_all({""});
    EXPECT_EQ(removed.names, std::vector<std::string>{"tp1"});
    EXPECT_TRUE(removed.errors.empty());
  });
}

TEST(KeptInterfaces, AnInterfaceOfAnotherProgramIsLeftAlone) {
  IN_NEW_NAMESPACE([] {
    ASSERT_EQ(std::system("ip link add tp0 type veth peer name tp1 && "
                          "ip link set tp0 alias 'turnpike router=gate link=uplink'"),
              0);
    const auto tap = Tap::open({.name = "tp0", .mac = {2, 0, 0, 0, 0, 1}, .adopt = true});
    ASSERT_FALSE(tap);
    EXPECT_NE(tap.error().find("it is no TAP interface"), std::string::npos) << tap.error();
  });
}

}  // namespace
}  // namespace turnpike::router
