// SPDX-License-Identifier: BSD-3-Clause
// Numbers, markup and CSV: output on a page, including hostile input.
#include "common/report/number.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/report/csv.h"
#include "common/report/markup.h"
#include "tests/support/well_formed.h"

namespace turnpike::report {
namespace {

TEST(Number, ReadsAsPeopleWriteIt) {
  EXPECT_EQ(fixed(3.14159, 2), "3.14");
  EXPECT_EQ(fixed(-0.0004, 2), "0.00");
  EXPECT_EQ(fixed(-0.04, 2), "-0.04");
  EXPECT_EQ(fixed(NAN, 2), kNoNumber);
  EXPECT_EQ(significant(100), "100");
  EXPECT_EQ(significant(0.08), "0.08");
  EXPECT_EQ(significant(33.333333), "33.33");
  EXPECT_EQ(significant(1.5e-8), "1.5e-08");
  EXPECT_EQ(significant(1e10), "1e+10");
  EXPECT_EQ(significant(-2.50), "-2.5");
  EXPECT_EQ(significant(INFINITY), kNoNumber);
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1\u202f234\u202f567");
  EXPECT_EQ(percent(0.0125, 2, true), "+1.25\u00a0%");
  EXPECT_EQ(percent(-0.5, 0), "-50\u00a0%");
}

RC_GTEST_PROP(Number, SignificantKeepsTheValue, (int mantissa, int8_t exponent)) {
  const double v = mantissa * std::pow(10, exponent % 30);
  if (v == 0) RC_DISCARD("zero has no digits");
  RC_ASSERT(std::fabs(std::stod(significant(v, 6)) / v - 1) < 1e-5);
}

RC_GTEST_PROP(Markup, AnyBytesBecomeWellFormedText, (const std::string& bytes)) {
  const std::string safe = escape(bytes);
  RC_ASSERT(xml_error("<a b=\"" + safe + "\">" + safe + "</a>") == "");
  RC_ASSERT(escape(safe).size() >= safe.size());  // valid text is never removed
  for (const char c : safe)
    RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
}

TEST(Markup, KeepsUtf8AndMendsTheRest) {
  EXPECT_EQ(escape("<b>&\"'"), "&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(escape("µs – 光"), "µs – 光");
  EXPECT_EQ(escape("a\xff\xc0\x80z"), "a\ufffd\ufffd\ufffdz");
  EXPECT_EQ(escape("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");  // a surrogate is no character
  EXPECT_EQ(escape("\xf0\x9f\x9a"), "\ufffd\ufffd\ufffd");  // cut short
  EXPECT_EQ(escape(std::string("a\0b\x1b", 4)), "ab");
  EXPECT_EQ(embeddable("{\"a\":\"</script>&\"}"), "{\"a\":\"\\u003c/script\\u003e\\u0026\"}");
}

TEST(CsvTest, ReadsRowsByColumnName) {
  const Csv csv = Csv::parse("t,link,price\n0.1,a,1e-7\n0.2,\"b, \"\"c\"\"\",x\nhalf,a li");
  ASSERT_EQ(csv.rows(), 2u);  // the last line is incomplete
  EXPECT_EQ(csv.number(0, "price"), 1e-7);
  EXPECT_EQ(csv.text(1, "link"), "b, \"c\"");
  EXPECT_TRUE(std::isnan(csv.number(1, "price")));
  EXPECT_TRUE(std::isnan(csv.number(1, "nothing")));
  EXPECT_FALSE(csv.column("nothing"));
  EXPECT_EQ(Csv::parse("").rows(), 0u);
}

RC_GTEST_PROP(CsvTest, FieldsSurviveTheRoundTrip, (const std::vector<std::string>& fields)) {
  std::vector<std::string> header{"n"}, line{"0"};
  for (size_t i = 0; i < fields.size(); ++i) header.push_back("c" + std::to_string(i));
  line.insert(line.end(), fields.begin(), fields.end());
  const Csv csv = Csv::parse(csv_line(header) + csv_line(line));
  RC_ASSERT(csv.columns() == header);
  RC_ASSERT(csv.rows() == 1u);
  for (size_t i = 0; i < fields.size(); ++i)
    RC_ASSERT(csv.text(0, "c" + std::to_string(i)) == fields[i]);
}

}  // namespace
}  // namespace turnpike::report
