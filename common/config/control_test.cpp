// SPDX-License-Identifier: BSD-3-Clause
// Linux as a router's control plane, as the topology file describes it.
#include <gtest/gtest.h>

#include "common/config/marked_file.h"

namespace turnpike::config {
namespace {

Loaded controlled(const std::string& control, const std::string& left = "left",
                  const std::string& more = "") {
  return load_text("hosts: {a: {budget: 1 $/s}, b: }\nrouters: {r: {control: " + control +
                       "}}\nlinks:\n  " + left + ": {ends: [a, r], rate: 1 Gbps" + more +
                       "}\n  right-hand-side-uplink: {ends: [r, b], rate: 1 Gbps}\n",
                   "control.yaml");
}

std::string mistakes(const Loaded& loaded) {
  std::string all;
  if (!loaded)
    for (const Mistake& m : loaded.error()) all += m.text() + "\n";
  return all;
}

TEST(Control, IsTheRouterItselfUnlessGiven) {
  const auto t = load_text(
      "hosts: {a: , b: }\nrouters: {r: }\nlinks: {l: {ends: [a, r], rate: 1 Gbps}, m: {ends: [r, "
      "b], rate: 1 Gbps}}\n",
      "control.yaml");
  ASSERT_TRUE(t) << mistakes(t);
  EXPECT_FALSE(t->routers[0].linux_control);
}

TEST(Control, LinuxNamesInterfacesByTheirLinks) {
  for (const char* text : {"linux", "{linux: }", "{linux: {}}"}) {
    const auto t = controlled(text);
    ASSERT_TRUE(t) << mistakes(t);
    const LinuxControl& c = *t->routers[0].linux_control;
    EXPECT_EQ(c.interfaces, (std::vector<std::string>{"left", "right-hand-side"}));
    EXPECT_EQ(c.rates, (std::array<double, kPuntClasses>{1000, 2000, 20000, 1000, 1000}));
    EXPECT_FALSE(c.punt_ttl);
    EXPECT_TRUE(c.file_addresses);
    EXPECT_EQ(c.network_namespace, "");
  }
}

TEST(Control, TakesNamesRatesAndSwitches) {
  const auto t = controlled(
      "{linux: {interfaces: {left: wan0}, punt: {local: 50 /s, ttl: 1 /ms}, ttl_expired: punt, "
      "addresses: kernel, namespace: cp}}");
  ASSERT_TRUE(t) << mistakes(t);
  const LinuxControl& c = *t->routers[0].linux_control;
  EXPECT_EQ(c.interfaces[0], "wan0");
  EXPECT_EQ(c.rates[static_cast<size_t>(PuntClass::kLocal)], 50);
  EXPECT_EQ(c.rates[static_cast<size_t>(PuntClass::kTtl)], 1000);
  EXPECT_TRUE(c.punt_ttl);
  EXPECT_FALSE(c.file_addresses);
  EXPECT_EQ(c.network_namespace, "cp");
}

TEST(Control, ReportsMistakes) {
  const auto expect = [](const Loaded& loaded, const std::string& part) {
    EXPECT_NE(mistakes(loaded).find(part), std::string::npos) << part << "\n" << mistakes(loaded);
  };
  expect(controlled("windows"), "'windows' is not one of linux");
  expect(controlled("{linux: {interfaces: {lfet: x}}}"), "no link 'lfet' ends at 'r'");
  expect(controlled("{linux: {interfaces: {left: a/b}}}"), "cannot be a network interface's name");
  expect(controlled("{linux: {interfaces: {left: sixteen-letters-}}}"),
         "cannot be a network interface's name");
  expect(controlled("{linux: {interfaces: {left: right-hand-side}}}"),
         "the interface of link 'right-hand-side-uplink' would be 'right-hand-side'");
  expect(controlled("linux", "right-hand-side-a"), "name it in `interfaces`");
  expect(controlled("linux", "left", ", attach: {r: {af_packet: left}}"),
         "the name of the port of link 'left'");
  expect(controlled("{linux: {punt: {local: 0 /s}}}"), "local");
  expect(controlled("{linux: {ttl_expired: maybe}}"), "answer");
  expect(controlled("linux", "left", ", mtu: 65530"), "65521");
  // In a namespace of its own the interface may have the port's name.
  EXPECT_TRUE(controlled("{linux: {namespace: cp}}", "left", ", attach: {r: {af_packet: left}}"));
}

}  // namespace
}  // namespace turnpike::config
