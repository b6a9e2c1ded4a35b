// SPDX-License-Identifier: BSD-3-Clause
// Cuts of small topologies that can be checked by hand, and of random ones against the definition.
#include "lab/simulator/cut.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/config/load.h"

namespace turnpike::lab {
namespace {

config::Topology load(const std::string& text) {
  auto loaded = config::load_text(text, "cut");
  EXPECT_TRUE(loaded) << loaded.error().front().text();
  return loaded ? std::move(*loaded) : config::Topology();
}

/// Two routers with two hosts each.
config::Topology dumbbell(const std::string& access, const std::string& between) {
  return load(
      "hosts: { a: { budget: 1 $/s }, b: {}, c: {}, d: {} }\n"
      "routers: { left: {}, right: {} }\n"
      "links:\n"
      "  a-left: { ends: [a, left], rate: 1 Gbps, delay: " +
      access +
      " }\n"
      "  b-left: { ends: [b, left], rate: 1 Gbps, delay: " +
      access +
      " }\n"
      "  between: { ends: [left, right], rate: 1 Gbps, delay: " +
      between +
      " }\n"
      "  c-right: { ends: [c, right], rate: 1 Gbps, delay: " +
      access +
      " }\n"
      "  d-right: { ends: [d, right], rate: 1 Gbps, delay: " +
      access +
      " }\n"
      "traffic: { flows: { f: { from: a, to: c } } }\n");
}

/// The parts of all nodes by name; external hosts have none.
std::map<std::string, uint32_t> parts_of(const config::Topology& t, const Cut& c) {
  std::map<std::string, uint32_t> parts;
  for (size_t r = 0; r < t.routers.size(); ++r) parts[t.routers[r].name] = c.router_parts[r];
  for (size_t h = 0; h < t.hosts.size(); ++h)
    if (!t.hosts[h].external) parts[t.hosts[h].name] = c.host_parts[h];
  return parts;
}

/// Checks the properties that every cut must have.
void expect_sound(const config::Topology& t, const Cut& c, uint32_t wanted) {
  EXPECT_GE(c.parts, 1U);
  EXPECT_LE(c.parts, wanted);
  const auto parts = parts_of(t, c);
  std::vector<bool> used(c.parts);
  for (const auto& [name, part] : parts) {
    ASSERT_LT(part, c.parts) << name;
    used[part] = true;
  }
  EXPECT_EQ(std::ranges::count(used, false), 0);
  Nanos least = kNever;
  for (size_t l = 0; l < t.links.size(); ++l) {
    const config::Link& link = t.links[l];
    const auto a = parts.find(link.ends[0].node), b = parts.find(link.ends[1].node);
    const bool crosses = a != parts.end() && b != parts.end() && a->second != b->second;
    EXPECT_EQ(c.crosses(l), crosses) << link.name;
    for (const config::Direction& d : link.directions)
      if (crosses) least = std::min(least, d.delay);
  }
  EXPECT_EQ(c.lookahead, least);
  EXPECT_GT(c.lookahead, Nanos(0));
  EXPECT_NEAR(std::accumulate(c.weights.begin(), c.weights.end(), 0.0), 1, 1e-9);
}

TEST(Cut, TakesTheLinkWithTheLargestDelay) {
  const config::Topology t = dumbbell("1 ms", "5 ms");
  const Cut c = cut(t, 2);
  expect_sound(t, c, 2);
  EXPECT_EQ(c.parts, 2U);
  EXPECT_EQ(c.links, std::vector<size_t>{2});
  EXPECT_EQ(c.lookahead, 5_ms);
  EXPECT_DOUBLE_EQ(c.weights[0], 0.5);
  EXPECT_EQ(c.why, "");
}

TEST(Cut, LeavesNodesTogetherThatNoDelayParts) {
  const config::Topology t = dumbbell("0 s", "5 ms");
  const Cut c = cut(t, 6);
  expect_sound(t, c, 6);
  EXPECT_EQ(c.parts, 2U);
  EXPECT_NE(c.why, "");
}

TEST(Cut, IsOnePartWithoutDelays) {
  const config::Topology t = dumbbell("0 s", "0 s");
  const Cut c = cut(t, 2);
  expect_sound(t, c, 2);
  EXPECT_EQ(c.parts, 1U);
  EXPECT_EQ(c.lookahead, kNever);
  EXPECT_EQ(cut_text(t, c), "one part: no link has a delay");
}

TEST(Cut, IsOnePartForOneThread) {
  const config::Topology t = dumbbell("1 ms", "5 ms");
  EXPECT_EQ(cut(t, 1).parts, 1U);
  EXPECT_EQ(cut_text(t, cut(t, 1)), "one part: one thread is wanted");
}

TEST(Cut, ExplainsItself) {
  const config::Topology t = dumbbell("1 ms", "5 ms");
  EXPECT_EQ(cut_text(t, cut(t, 2)),
            "2 parts, at most 2.00 times as fast as one\n"
            "  part 0: 1 routers, 2 hosts, 50 % of the expected work\n"
            "  part 1: 1 routers, 2 hosts, 50 % of the expected work\n"
            "  1 of 5 links lead from one part to another, 20 % of the capacity\n"
            "  lookahead 5 ms, the least delay of these links: parts wait for each other once in "
            "that time");
}

RC_GTEST_PROP(CutProperty, IsSoundForAnyTree, ()) {
  const auto routers = *rc::gen::inRange(1, 12);
  const auto hosts = *rc::gen::inRange(2, 20);
  std::string text = "routers:\n";
  for (int r = 0; r < routers; ++r) text += "  r" + std::to_string(r) + ": {}\n";
  text += "hosts:\n";
  for (int h = 0; h < hosts; ++h) text += "  h" + std::to_string(h) + ": { budget: 1 $/s }\n";
  text += "links:\n";
  const auto link = [&](const std::string& a, const std::string& b) {
    text += "  " + a + "-" + b + ": { ends: [" + a + ", " + b +
            "], rate: " + std::to_string(*rc::gen::inRange(1, 100)) +
            " Mbps, delay: " + std::to_string(*rc::gen::inRange(0, 5)) + " ms }\n";
  };
  for (int r = 1; r < routers; ++r)
    link("r" + std::to_string(*rc::gen::inRange(0, r)), "r" + std::to_string(r));
  for (int h = 0; h < hosts; ++h)
    link("h" + std::to_string(h), "r" + std::to_string(*rc::gen::inRange(0, routers)));
  text += "traffic: { flows: { f: { from: h0, to: h1 } } }\n";
  const config::Topology t = load(text);
  for (uint32_t wanted = 1; wanted < 9; ++wanted) expect_sound(t, cut(t, wanted), wanted);
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace turnpike::lab
