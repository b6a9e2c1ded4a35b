// SPDX-License-Identifier: BSD-3-Clause
// Order of mistakes, and which words count as misspellings.
#include "common/config/mistakes.h"

#include <array>

#include <gtest/gtest.h>

namespace turnpike::config {
namespace {

TEST(Mistakes, ComeInTheFilesOrderAndOnce) {
  Mistakes m("f.yaml");
  m.add({2, 1}, "b", "later");
  m.add({1, 9}, "a", "first");
  m.add({2, 1}, "b", "later");
  const auto sorted = m.sorted();
  ASSERT_EQ(sorted.size(), 2U);
  EXPECT_EQ(sorted[0].text(), "f.yaml:1:9: a: first");
  EXPECT_EQ(sorted[1].text(), "f.yaml:2:1: b: later");
  for (int i = 0; i < 5000; ++i) m.add({i, 1}, "", "x");
  EXPECT_EQ(m.sorted().size(), Mistakes::kMax - 1);  // one is a duplicate
}

TEST(Mistakes, SuggestWhatIsNear) {
  constexpr std::array<std::string_view, 6> kWords{"rate", "delay", "buffer", "law", "mtu", "ends"};
  EXPECT_EQ(nearest("rtae", kWords), "rate");
  EXPECT_EQ(nearest("dealy", kWords), "delay");
  EXPECT_EQ(nearest("bufer", kWords), "buffer");
  EXPECT_EQ(nearest("end", kWords), "ends");
  EXPECT_EQ(nearest("bandwidth", kWords), "");
  EXPECT_EQ(nearest("xy", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest(std::string(5000, 'r'), kWords), "");
  EXPECT_EQ(suggestion("rat", kWords), " (did you mean 'rate'?)");
  EXPECT_EQ(suggestion("qqq", kWords), " (there is rate, delay, buffer, law, mtu, ends)");
}

}  // namespace
}  // namespace turnpike::config
