// SPDX-License-Identifier: BSD-3-Clause
#include "common/units/printable.h"

#include <gtest/gtest.h>

namespace turnpike {
namespace {

using namespace std::string_literals;

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable("1 Gbps, \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 100),
            "1 Gbps, \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(printable("", 0), "");
}

TEST(Printable, WritesControlCharactersAndBrokenUtf8AsNumbers) {
  EXPECT_EQ(printable("a\x1b[31m\n\0b\x7f"s, 100), "a\\x1b[31m\\x0a\\x00b\\x7f");
  EXPECT_EQ(printable("\xc2\x9b", 100), "\\xc2\\x9b") << "C1, a terminal's escape";
  EXPECT_EQ(printable("\xff.\xc3.\x80", 100), "\\xff.\\xc3.\\x80");
  EXPECT_EQ(printable("\xed\xa0\x80", 100), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xc0\xaf", 100), "\\xc0\\xaf") << "longer than need be";
}

TEST(Printable, CutsLongText) {
  EXPECT_EQ(printable(std::string(1000, 'x'), 5), "xxxxx...");
  EXPECT_EQ(printable("abc\xe2\x82\xac", 5), "abc...") << "not through a character";
}

}  // namespace
}  // namespace turnpike
