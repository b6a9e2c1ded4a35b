// SPDX-License-Identifier: BSD-3-Clause
// Loading on several threads: the same topology to the byte, and the same mistakes in the same
// order, as on one.
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/config/address.h"
#include "common/config/lines.h"
#include "common/config/load.h"
#include "common/config/resolve.h"
#include "common/units/instrumented.h"

namespace turnpike::config {
namespace {

/// All that a load computes, or its mistakes.
std::string all_of(const Loaded& loaded) {
  std::ostringstream out;
  if (!loaded) {
    for (const Mistake& m : loaded.error()) out << m.text() << "\n";
    return out.str();
  }
  out << resolved_text(*loaded);
  for (const Router& r : loaded->routers) {
    out << r.name << " " << r.ipv4_in_table << " " << r.ipv6_in_table << "\n";
    for (const auto& route : r.ipv4_routes)
      out << prefix_text(route.prefix) << " " << route.link << "\n";
    for (const auto& route : r.ipv6_routes)
      out << prefix_text(route.prefix) << " " << route.link << "\n";
  }
  return out.str();
}

class OnThreads : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name) << text;
  }
  /// Loads the text on one, two and eight threads; returns what one has found.
  [[nodiscard]] std::string expect_same(const std::string& text) const {
    const std::string name = folder + "/file.yaml";
    std::string one = all_of(load_text(text, name));
    for (const unsigned count : {2U, 8U}) {
      if (kInstrumented && count == 2) continue;
      EXPECT_EQ(all_of(load_text(text, name, {}, Threads(count))), one) << count << " threads";
    }
    return one;
  }

  const std::string folder = ::testing::TempDir() + "/turnpike-threads-" + std::to_string(getpid());
};

TEST_F(OnThreads, RoutesAndRoundTripsOfGeneratedNetworksAreTheSame) {
  const std::string more =
      "    links: { rate: 1 Gbps, delay: 20 ms, law: fcp }\n"
      "    hosts: { budget: 1 $/s }\n"
      "traffic: { workloads: { w: { from: net, to: net, arrivals: { poisson: 9 /s }, "
      "size: { fixed: 1 KB } } } }\n";
  const auto of = [&](const std::string& shape) {
    return expect_same("generate:\n  net:\n    shape: " + shape + "\n" + more);
  };
  EXPECT_NE(of(kInstrumented ? "{ fat_tree: 4 }" : "{ fat_tree: 8 }").find("buffer"),
            std::string::npos);
  EXPECT_NE(of(kInstrumented ? "{ dumbbell: 50 }" : "{ dumbbell: 500 }").find("buffer"),
            std::string::npos);
}

/// Lines of a table of `count` routes; those whose number is in `wrong` are no routes.
std::string table_text(size_t count, const std::vector<size_t>& wrong) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    if (std::ranges::find(wrong, i) != wrong.end())
      text += "nonsense\n";
    else
      text += prefix_text(Ipv4Prefix{static_cast<Ipv4>(0x20000000 + (i << 8)), 24}) + " l1\n";
  return text;
}

std::string row_of_three(const std::string& traffic) {
  return "hosts: { a: { budget: 1 $/s }, b: { budget: 1 $/s } }\n"
         "routers: { r0: { table: t0.txt }, r1: { table: t1.txt }, r2: { table: t2.txt } }\n"
         "links:\n"
         "  l0: { ends: [a, r0], rate: 1 Gbps, delay: 1 ms }\n"
         "  l1: { ends: [r0, r1], rate: 1 Gbps, delay: 1 ms, law: fcp }\n"
         "  l2: { ends: [r1, r2], rate: 1 Gbps, delay: 1 ms, law: fcp }\n"
         "  l3: { ends: [r2, b], rate: 1 Gbps, delay: 1 ms }\n" +
         traffic;
}

constexpr size_t kRoutes = kInstrumented ? 80'000 : 400'000;  // several blocks of lines

TEST_F(OnThreads, TablesAreTheSame) {
  write("t0.txt", table_text(kRoutes, {}));
  write("t1.txt", "# none\n");
  write("t2.txt", "20.0.0.0/8 l2\nfd99::/16 l2\n");
  EXPECT_NE(expect_same(row_of_three("")).find("r0 " + std::to_string(kRoutes) + " 0\n"),
            std::string::npos);
}

TEST_F(OnThreads, MistakesOfTablesAreInFileOrder) {
  write("t0.txt", table_text(kRoutes, {7, kRoutes - 3, kRoutes - 1}));
  write("t1.txt",
        table_text(kRoutes, {1, 2, kRoutes / 2, kRoutes / 2 + 1, kRoutes / 2 + 2, kRoutes - 1}));
  const std::string key = ":1: routers.";
  const auto at = [&](const char* name, size_t line, const char* router) {
    return folder + "/" + name + ":" + std::to_string(line) + key + router +
           ".table: expected a prefix and a neighbour or link\n";
  };
  std::string expected = folder + "/file.yaml:2:71: routers.r2.table: '" + folder +
                         "/t2.txt' cannot be read: No such file or directory\n";
  for (const size_t i : {size_t{7}, kRoutes - 3, kRoutes - 1})
    expected += at("t0.txt", i + 1, "r0");
  for (const size_t i : {size_t{1}, size_t{2}, kRoutes / 2, kRoutes / 2 + 1, kRoutes / 2 + 2})
    expected += at("t1.txt", i + 1, "r1");  // the first five
  EXPECT_EQ(expect_same(row_of_three("")), expected);
}

TEST_F(OnThreads, MistakesOfTracesAreInFileOrder) {
  for (const char* name : {"t0.txt", "t1.txt", "t2.txt"}) write(name, "");
  write("right.csv", "0,1\n");
  write("wrong.csv", "0,1\n1,x\n");
  write("back.csv", "1,1\n0,1\n");
  const auto workload = [](const std::string& name, const std::string& trace) {
    return "    " + name + ": { from: a, to: b, size: { trace: " + trace + " } }\n";
  };
  const std::string found = expect_same(row_of_three(
      "traffic:\n  workloads:\n" + workload("w0", "wrong.csv") + workload("w1", "missing.csv") +
      workload("w2", "right.csv") + workload("w3", "back.csv") + workload("w4", "wrong.csv")));
  EXPECT_EQ(found, folder + "/file.yaml:11:42: traffic.workloads.w1.size.trace: '" + folder +
                       "/missing.csv' cannot be read: No such file or directory\n" + folder +
                       "/back.csv:2:1: traffic.workloads.w3.size.trace: times must not go back\n" +
                       folder +
                       "/wrong.csv:2:3: traffic.workloads.w0.size.trace: 'x' is not a flow's size, "
                       "a whole number of 0 to 1e15 B\n");
}

TEST(LineBlocks, HoldWholeLines) {
  std::mt19937_64 rng(5);
  for (int round = 0; round < 1000; ++round) {
    std::string text;
    for (size_t n = rng() % 60; n > 0; --n) text += rng() % 4 == 0 ? '\n' : 'x';
    std::string joined;
    for (const std::string_view block : line_blocks(text, 1 + rng() % 20)) {
      EXPECT_FALSE(block.empty());
      joined += block;
      EXPECT_TRUE(block.ends_with('\n') || joined.size() == text.size());
    }
    EXPECT_EQ(joined, text);
  }
}

}  // namespace
}  // namespace turnpike::config
