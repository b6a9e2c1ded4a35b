// SPDX-License-Identifier: BSD-3-Clause
// Classes of a link: valid files, and each mistake at its place.
#include <cmath>

#include "common/config/marked_file.h"
#include "common/config/resolve.h"

namespace turnpike::config {
namespace {

std::string with_classes(const std::string& classes, const std::string& more = "") {
  return changed("law: fcp", "law: fcp" + more + ", classes: " + classes);
}

TEST(LinkClasses, PoliciesAndConditions) {
  const Topology t = expect_right(with_classes(R"({
    calm: {match: {dscp: 46}, policy: stability},
    urgent: {match: {dscp: [32, 40], port: 4747}, policy: {deadline: {cap: 8 Mbps}}},
    gold: {match: {source: 10.1.0.0/16, destination: "fd00::/16"}, policy: {priority: {factor: 10}},
           buffer: 20 KB},
    old: {match: {unpriced: true, protocol: [6, 17]}, policy: {legacy: {share: 0.3}},
          queue: {weight: 2}},
    rest: {}})"));
  const Direction& d = t.links[1].directions[0];
  ASSERT_EQ(d.classes.size(), 5U);
  EXPECT_TRUE(t.links[1].directions[1].classes.empty()) << "the host's port";
  const auto& calm = d.classes[0];
  EXPECT_EQ(calm.rule.name, "calm");
  EXPECT_EQ(calm.rule.policy, PricingPolicy::kStability);
  EXPECT_EQ(calm.rule.factor, 2);
  EXPECT_EQ(calm.match.dscp, std::vector{46U});
  EXPECT_EQ(calm.buffer.count(), 0);
  const auto& urgent = d.classes[1];
  EXPECT_EQ(urgent.rule.policy, PricingPolicy::kDeadline);
  EXPECT_EQ(urgent.rule.cap, 1e6);
  EXPECT_EQ(urgent.rule.price, 1e-18);
  EXPECT_EQ(urgent.match.dscp, (std::vector{32U, 40U}));
  EXPECT_EQ(urgent.match.port, std::vector{4747U});
  const auto& gold = d.classes[2];
  EXPECT_EQ(gold.rule.policy, PricingPolicy::kPriority);
  EXPECT_EQ(gold.rule.factor, 10);
  EXPECT_EQ(std::get<Ipv4Prefix>(gold.match.source.at(0)).length, 16);
  EXPECT_EQ(std::get<Ipv6Prefix>(gold.match.destination.at(0)).length, 16);
  EXPECT_EQ(gold.buffer, Bytes(20'000));
  const auto& old = d.classes[3];
  EXPECT_EQ(old.rule.policy, PricingPolicy::kLegacy);
  EXPECT_EQ(old.rule.share, 0.3);
  EXPECT_EQ(old.rule.discipline, LegacyQueue::kRed);
  EXPECT_EQ(old.rule.weight, 2);
  EXPECT_EQ(old.match.unpriced, true);
  EXPECT_EQ(d.classes[4].rule.policy, PricingPolicy::kStandard);
}

TEST(LinkClasses, StrictAndDropTail) {
  const Topology t = expect_right(with_classes(
      "{a: {match: {unpriced: true}, policy: {legacy: {share: 0.5, discipline: droptail}}, "
      "queue: strict}, b: {policy: standard}}"));
  const auto& rule = t.links[1].directions[0].classes.at(0).rule;
  EXPECT_TRUE(std::isinf(rule.weight));
  EXPECT_EQ(rule.discipline, LegacyQueue::kDropTail);
}

TEST(LinkClasses, OfOneDirection) {
  const Topology t = expect_right(
      changed("law: fcp", "forward: {law: fcp, classes: {a: {match: {dscp: 1}}, b: {}}}"));
  EXPECT_EQ(t.links[1].directions[0].classes.size(), 2U);
}

TEST(LinkClasses, ATree) {
  const Topology t = expect_right(with_classes(R"({
    large: {match: {source: 10.1.0.0/16}, queue: {weight: 2},
            classes: {gold: {match: {dscp: 10}, policy: {priority: {factor: 4}}}, usual: {}}},
    alone: {match: {dscp: 7}, queue: {weight: 0.5}, policy: stability},
    small: {classes: {old: {match: {unpriced: true}, policy: {legacy: {share: 0.1}},
                            queue: {weight: 3}}, rest: {}}}})"));
  const auto& all = t.links[1].directions[0].classes;
  ASSERT_EQ(all.size(), 5U);
  const std::vector<std::string> names{"gold", "usual", "alone", "old", "rest"};
  const std::vector<unsigned> parents{0, 0, 1, 2, 2};
  const std::vector<double> weights{2, 2, 0.5, 1, 1}, own{0, 0, 0, 3, 0};
  for (size_t c = 0; c < 5; ++c) {
    EXPECT_EQ(all[c].rule.name, names[c]);
    EXPECT_EQ(all[c].rule.parent, parents[c]);
    EXPECT_EQ(all[c].rule.parent_weight, weights[c]);
    EXPECT_EQ(all[c].rule.weight, own[c]) << names[c];
  }
  EXPECT_EQ(all[0].match.dscp, std::vector{10U});
  for (size_t c = 0; c < 2; ++c) EXPECT_EQ(all[c].parent_match.source.size(), 1U);
  EXPECT_TRUE(all[4].parent_match.source.empty());
  // As resolved, it is the same tree.
  const std::string text = resolved_text(t);
  const auto again = load_text(text, "resolved");
  ASSERT_TRUE(again) << text;
  EXPECT_EQ(resolved_text(*again), text);
  EXPECT_EQ(again->links[1].directions[0].classes.at(3).rule.parent, 2U);
}

TEST(LinkClasses, MistakesInATree) {
  const std::string inner = "classes: {b: {match: {dscp: 1}}, c: {}}";
  expect_mistakes(with_classes("{a: {match: {dscp: 2}, policy: ^stability, " + inner + "}, d: {}}"),
                  {"its classes have the policies"});
  expect_mistakes(with_classes("{a: {match: {dscp: 2}, queue: ^strict, " + inner + "}, d: {}}"),
                  {"outer classes share by weight"});
  expect_mistakes(with_classes("{^a: {" + inner + "}, d: {}}"),
                  {"only the last class may lack 'match'"});
  expect_mistakes(
      with_classes("{a: {match: {dscp: 2}, classes: {b: {match: {dscp: 1}}, d: {}}}, ^d: {}}"),
      {"another class has this name"});
  expect_mistakes(with_classes("{a: {match: {dscp: 2}, classes: {^b: {}, c: {}}}, d: {}}"),
                  {"only the last class may lack 'match'"});
  expect_mistakes(with_classes("{a: {match: {dscp: 3}, policy: ^{deadline: {cap: 1 Mbps}}}, e: {" +
                               inner + "}}"),
                  {"needs another class beside it"});
}

TEST(LinkClasses, FlowsHaveADscp) {
  EXPECT_EQ(expect_right(changed("to: bob}", "to: bob, dscp: 46}")).flows.at(0).dscp, 46U);
  expect_mistakes(changed("to: bob}", "to: bob, dscp: ^64}"), {"out of range"});
}

TEST(LinkClasses, MistakesAtTheirPlaces) {
  expect_mistakes(with_classes("^{a: {}}"), {"2 to 8 classes, not 1"});
  expect_mistakes(with_classes("{a: {match: {dscp: 1}}, b: {match: ^{dscp: 2}}}"),
                  {"remove 'match'"});
  expect_mistakes(with_classes("{^a: {}, b: {}}"), {"only the last class may lack 'match'"});
  expect_mistakes(with_classes("{a: {match: {dscp: 1}}, b: {policy: ^stability}}"),
                  {"the last class must be 'standard'"});
  expect_mistakes(with_classes("{a: {match: {dscp: ^64}}, b: {}}"), {"out of range"});
  expect_mistakes(with_classes("{a: {match: {dscp: 1}, policy: ^golden}, b: {}}"),
                  {"is not one of"});
  expect_mistakes(with_classes("{a: {match: {dscp: 1}, policy: {^priority: {}}}, b: {}}"),
                  {"missing key 'factor'"});
  expect_mistakes(
      with_classes("{a: {match: {dscp: 1}, policy: {deadline: {cap: ^10 Mbps}}}, b: {}}"),
      {"is not below the link's rate"});
  expect_mistakes(with_classes("{a: {match: {dscp: 1}, policy: {legacy: {share: 0.5}}}, b: {match: "
                               "{dscp: 2}, policy: ^{legacy: {share: 0.5}}}, c: {}}"),
                  {"more than 0.95"});
  expect_mistakes(with_classes("^{a: {match: {dscp: 1}}, b: {}}", ", drain: line-rate"),
                  {"'drain: shaped'"});
  expect_mistakes(changed("law: fcp", "classes: ^{a: {match: {dscp: 1}}, b: {}}"),
                  {"classes need 'law: fcp'"});
  expect_mistakes(
      changed("law: fcp", "law: fcp, reverse: {classes: ^{a: {match: {dscp: 1}}, b: {}}}"),
      {"a host's port has no classes"});
}

}  // namespace
}  // namespace turnpike::config
