// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/trace.h"

#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "common/config/marked_file.h"

namespace turnpike::config {
namespace {

TEST(Trace, IsReadStrictly) {
  const auto good = parse_trace("time_s,bytes\n# hm\n0,10\n\n 0.5 , 20 \r\n0.5,0\n", "t");
  ASSERT_TRUE(good);
  ASSERT_EQ(good->size(), 3U);
  EXPECT_EQ((*good)[1].at, 500_ms);
  EXPECT_EQ((*good)[1].bytes, 20U);
  for (const char* bad : {"", "0,-1", "nan,1", "inf,1", "-1,1", "0,1.5", "0,", ",1", "0,1,2",
                          "1e300,1", "0,99999999999999999999"}) {
    EXPECT_FALSE(parse_trace(bad, "t")) << bad;
  }
}

TEST(Trace, SaysWhereItIsWrong) {
  const auto message = [](const char* text) { return parse_trace(text, "t").error().text(); };
  EXPECT_EQ(message("0,1\n 1;2\n"), "t:2:2: '1;2' is not \"time_s,bytes\"");
  EXPECT_EQ(message("1,1\n0,1\n"), "t:2:1: times must not go back");
  EXPECT_EQ(message("nan,1\n"), "t:1:1: 'nan' is not a time of 0 to 1e9 s");
  EXPECT_EQ(message("0, -1\n"), "t:1:4: '-1' is not a flow's size, a whole number of 0 to 1e15 B");
  EXPECT_EQ(message("0,"), "t:1:3: '' is not a flow's size, a whole number of 0 to 1e15 B");
  EXPECT_EQ(message("\x1b[2J\n"), "t:1:1: '\\x1b[2J' is not \"time_s,bytes\"");
  EXPECT_EQ(message("# none\n"), "t:1:1: no flow in this trace");
  EXPECT_EQ(load_trace("/nonexistent.csv").error().text(),
            "/nonexistent.csv: cannot be read: No such file or directory");
}

class TraceFile : public ::testing::Test {
 protected:
  static std::string file(const std::string& path) {
    return changed(
        "traffic:",
        "traffic:\n  workloads:\n    load: {from: alice, to: bob, size: {trace: " + path + "}}");
  }
  void TearDown() override { std::filesystem::remove(path); }

  std::string path = ::testing::TempDir() + "turnpike-trace-" + std::to_string(getpid());
};

TEST_F(TraceFile, IsReadWithTheTopology) {
  std::ofstream(path) << "0,1000\n";
  expect_right(file(path));
  std::ofstream(path) << "0,1000\n1,x\n";
  const Loaded wrong = load_text(file(path), "file.yaml");
  ASSERT_FALSE(wrong);
  ASSERT_EQ(wrong.error().size(), 1U);
  EXPECT_EQ(wrong.error()[0].text(),
            path +
                ":2:3: traffic.workloads.load.size.trace: 'x' is not a flow's size, "
                "a whole number of 0 to 1e15 B");
}

TEST_F(TraceFile, IsRefusedWhereItCannotBeRead) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_mistakes(file("^" + path), {"it is a FIFO"});
  expect_mistakes(file("^/dev/zero"), {"it is a device"});
  expect_mistakes(file("^/no/such.csv"), {"'/no/such.csv' cannot be read: No such file"});
}

}  // namespace
}  // namespace turnpike::config
