// SPDX-License-Identifier: BSD-3-Clause
// For tests: topology files with a ^ at each place where a mistake must be reported.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "common/config/load.h"
#include "common/config/mistakes.h"

namespace turnpike::config {

/// A correct file, small enough to be changed in one place.
inline constexpr std::string_view kRightFile = R"(run: {duration: 10 s}
hosts:
  alice: {budget: 1 $/s}
  bob: {}
routers:
  gate: {lcores: [0, 1]}
links:
  left: {ends: [alice, gate], rate: 1 Gbps, delay: 1 ms}
  right: {ends: [gate, bob], rate: 10 Mbps, delay: 4 ms, law: fcp}
traffic:
  flows:
    one: {from: alice, to: bob}
)";

/// kRightFile with the first `what` replaced by `by`; an empty `what` appends.
inline std::string changed(std::string_view what, std::string_view by) {
  std::string out(kRightFile);
  const size_t at = what.empty() ? out.size() : out.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return out.replace(at, what.size(), by);
}

/// Loads `marked` without its marks. Expects one mistake at each mark and no other; path and
/// message of the i-th must contain `expected[i]`.
inline void expect_mistakes(const std::string& marked, const std::vector<std::string>& expected) {
  std::string text;
  std::vector<Position> marks;
  Position here{1, 1};
  for (const char c : marked) {
    if (c == '^') {
      marks.push_back(here);
      continue;
    }
    text += c;
    here = c == '\n' ? Position{here.line + 1, 1} : Position{here.line, here.column + 1};
  }
  const Loaded loaded = load_text(text, "file.yaml");
  ASSERT_FALSE(loaded.has_value()) << text;
  std::string all;
  for (const Mistake& m : loaded.error()) all += m.text() + "\n";
  ASSERT_EQ(loaded.error().size(), expected.size()) << all << text;
  ASSERT_EQ(marks.size(), expected.size()) << "the test is wrong";
  for (size_t i = 0; i < marks.size(); ++i) {
    const Mistake& m = loaded.error()[i];
    EXPECT_EQ((Position{m.line, m.column}), marks[i]) << m.text() << "\n" << text;
    EXPECT_NE((m.path + ": " + m.message).find(expected[i]), std::string::npos)
        << m.text() << "\nlacks: " << expected[i];
  }
}

/// The topology of a correct file.
inline Topology expect_right(const std::string& text) {
  Loaded loaded = load_text(text, "file.yaml");
  if (!loaded)
    for (const Mistake& m : loaded.error()) ADD_FAILURE() << m.text() << "\n" << text;
  return loaded.value_or(Topology{});
}

}  // namespace turnpike::config
