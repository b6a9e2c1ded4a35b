// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/without_law.h"

#include <gtest/gtest.h>

#include "common/config/marked_file.h"

namespace turnpike::config {
namespace {

/// Host a sends to s over a link with `law`, and to z over one with law fcp.
std::string file(const std::string& law, const std::string& traffic) {
  return "run: {duration: 1 s}\nhosts: {a: {budget: 1 $/s}, s: {}, z: {}}\n"
         "routers: {g: {}}\nlinks:\n  ag: {ends: [a, g], rate: 1 Gbps}\n"
         "  gz: {ends: [g, z], rate: 20 Mbps, law: fcp}\n"
         "  gs: {ends: [g, s], rate: 20 Mbps" +
         law + "}\ntraffic: {" + traffic + "}\n";
}

using Names = std::vector<std::string>;

TEST(WithoutLaw, NamesFlowsThatNoLinkControls) {
  const std::string flows = "flows: {x: {from: a, to: s}, y: {from: a, to: z}}";
  EXPECT_EQ(without_law(expect_right(file("", flows))), Names{"x"});
  EXPECT_EQ(without_law(expect_right(file(", law: fcp", flows))), Names{});
  EXPECT_EQ(without_law(expect_right(file(", law: rcp", flows))), Names{"x"});
}

TEST(WithoutLaw, LeavesEndToEndProtocolsAlone) {
  const std::string flows =
      "flows: {x: {from: a, to: s, protocol: tcp}, y: {from: a, to: s, protocol: acc}}";
  EXPECT_EQ(without_law(expect_right(file("", flows))), Names{});
}

TEST(WithoutLaw, NamesWorkloads) {
  const auto to = [](const std::string& hosts) {
    return "workloads: {w: {from: a, to: " + hosts +
           ", arrivals: {periodic: 1 /s}, size: {fixed: 1 KB}}}";
  };
  EXPECT_EQ(without_law(expect_right(file("", to("s")))), Names{"w"});
  EXPECT_EQ(without_law(expect_right(file("", to("[s, z]")))), Names{});
  EXPECT_EQ(without_law(expect_right(file(", law: fcp", to("s")))), Names{});
}

}  // namespace
}  // namespace turnpike::config
