// SPDX-License-Identifier: BSD-3-Clause
// Trees with positions, duplicate keys, and hostile documents.
#include "common/config/yaml_tree.h"

#include <gtest/gtest.h>

#include "common/units/instrumented.h"

namespace turnpike::config {
namespace {

std::optional<YamlNode> parse(const std::string& text, std::vector<Mistake>* told = nullptr) {
  Mistakes mistakes("f");
  auto tree = parse_yaml(text, mistakes);
  if (told) *told = mistakes.sorted();
  return tree;
}

TEST(YamlTree, KnowsWhereKeysAndValuesStand) {
  const auto root = parse("a: {b: 1,  c: [x, \"y\"]}\n\nd:\n    e:   text\n");
  ASSERT_TRUE(root);
  const Entry& a = root->entries.at(0);
  EXPECT_EQ(a.at, (Position{1, 1}));
  EXPECT_EQ(a.value.at, (Position{1, 4}));
  EXPECT_EQ(a.value.find("c")->at, (Position{1, 12}));
  EXPECT_EQ(a.value.find("c")->value.items.at(1).at, (Position{1, 19}));
  EXPECT_TRUE(a.value.find("c")->value.items.at(1).quoted);
  EXPECT_FALSE(a.value.find("b")->value.quoted);
  const Entry& e = root->find("d")->value.entries.at(0);
  EXPECT_EQ(e.at, (Position{4, 5}));
  EXPECT_EQ(e.value.at, (Position{4, 10}));
  EXPECT_EQ(e.value.text, "text");
}

TEST(YamlTree, TellsDuplicateKeysAndKeepsTheFirst) {
  std::vector<Mistake> told;
  const auto root = parse("a:\n  - {x: 1, x: 2}\nb: 1\na: 2\n", &told);
  ASSERT_TRUE(root);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].text(), "f:2:12: a[0].x: duplicate key; the first is in line 2");
  EXPECT_EQ(told[1].text(), "f:4:1: a: duplicate key; the first is in line 1");
  EXPECT_TRUE(root->find("a")->value.is_sequence());
}

TEST(YamlTree, CopiesAliases) {
  const auto root = parse("a: &x {b: [1, 2]}\nc: *x\n");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->find("c")->value.find("b")->value.items.at(1).text, "2");
}

void expect_refused(const std::string& text, const std::string& why) {
  std::vector<Mistake> told;
  EXPECT_FALSE(parse(text, &told));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].message.find(why), std::string::npos) << told[0].text();
  EXPECT_GT(told[0].line, 0);
}

TEST(YamlTree, RefusesWhatIsMadeToDoHarm) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string n = std::to_string(i), p = "*a" + std::to_string(i - 1);
    for (const std::string& part : {"a" + n, ": &a" + n, " [" + p, ", " + p, ", " + p, ", " + p})
      bomb += part;
    bomb += "]\n";
  }
  expect_refused(bomb, "too large");
  expect_refused(std::string(100'000, '['), "nested deeper");
  expect_refused("a: &a [*a]\n", "may not contain itself");
  expect_refused(std::string(kMaxFileBytes + 1, 'x'), "larger than");
  if (!kInstrumented) {  // the bomb reaches the same limit sooner
    expect_refused("a: [" + std::string(2 * kMaxNodes, ',') + "]", "");
    std::string many = "a:\n";
    for (size_t i = 0; i <= kMaxNodes; ++i) many += "- 1\n";
    expect_refused(many, "too large");
  }
  std::string scalars = "a: &a " + std::string(1 << 20, 'x') + "\nb:\n";
  for (int i = 0; i < 1000; ++i) scalars += "- *a\n";
  expect_refused(scalars, "too large");
  expect_refused(std::string(kMaxKeyBytes + 1, 'k') + ": 1\n", "a key of more than");
}

TEST(YamlTree, RefusesBytesThatNoTextHas) {
  std::vector<Mistake> told;
  EXPECT_FALSE(parse("a: 1\nb: \x04\n", &told));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].text(), "f:2:4: a control character: \\x04");
  expect_refused(std::string("a: 1\0\n", 6), "a control character: \\x00");
  expect_refused("a: \x1b[2J\n", "a control character: \\x1b");
  expect_refused("a: \xff\n", "not UTF-8: \\xff");
  EXPECT_TRUE(
      parse("\xef\xbb\xbf"
            "a: \xc3\xa9\r\n"))
      << "a byte order mark, and lines of another system";
}

TEST(YamlTree, TellsSyntaxErrorsWithTheirPlace) {
  std::vector<Mistake> told;
  EXPECT_FALSE(parse("a: 1\nb: [1, 2\nc: 3\n", &told));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_GE(told[0].line, 2);
  EXPECT_NE(told[0].message.find("not YAML"), std::string::npos);
  expect_refused("", "empty");
  expect_refused("a: 1\n---\nb: 2\n", "second document");
  expect_refused("a: *missing\n", "not YAML");
  expect_refused("\tx: 1\n", "not YAML");
}

}  // namespace
}  // namespace turnpike::config
