// SPDX-License-Identifier: BSD-3-Clause
// The reader of topology files reads back the values written.
#include "common/config/yaml_writer.h"

#include <limits>

#include <gtest/gtest.h>

#include "common/config/yaml_tree.h"

namespace turnpike::config {
namespace {

YamlNode tree_of(const std::string& text) {
  Mistakes mistakes("f");
  const auto tree = parse_yaml(text, mistakes);
  for (const Mistake& m : mistakes.sorted()) ADD_FAILURE() << m.text() << "\n" << text;
  return tree.value_or(YamlNode{});
}

TEST(YamlWriter, QuotesOnlyWhatItMust) {
  for (const char* name : {"alice", "a-b_c.d", "0", "true", "10.0.0.1", "nulls"})
    EXPECT_EQ(plain(name), name);
  for (const char* name : {"null", "Null", "NULL", "-", "---", "...", "-a", "_", "@x", ""})
    EXPECT_EQ(plain(name), in_quotes(name)) << name;
}

TEST(YamlWriter, AnyTextReadsBackAsItself) {
  for (const std::string text :
       {"", "a", "null", "~", "---", "- a", "#", "a: b", "a # b", "[x", "{", "\"", "\\", "\\n", "'",
        " a ", "\x01\x1f\x7f", "h\xc3\xb6", "%"}) {
    const YamlNode tree = tree_of("a: " + in_quotes(text) + "\nb: [" + in_quotes(text) + "]\n" +
                                  in_quotes(text + "k") + ": c\n");
    ASSERT_EQ(tree.entries.size(), 3U) << text;
    EXPECT_EQ(tree.entries[0].value.text, text);
    EXPECT_EQ(tree.entries[1].value.items.at(0).text, text);
    EXPECT_EQ(tree.entries[2].key, text + "k");
  }
}

TEST(YamlWriter, NestsMaps) {
  YamlWriter out;
  out.map("a", [&] {
    out.put("b", number(0.1));
    out.map("c", [&] { out.put("d", truth(true)); });
    out.put("e", mapped({{"f", "1 s"}, {"g", mapped({})}}));
  });
  out.map("h", [] {});
  EXPECT_EQ(out.text(), "a:\n  b: 0.1\n  c:\n    d: true\n  e: {f: 1 s, g: {}}\nh:\n");
  EXPECT_EQ(number(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
}

}  // namespace
}  // namespace turnpike::config
