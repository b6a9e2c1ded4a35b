// SPDX-License-Identifier: BSD-3-Clause
// Routing tables in separate files.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "common/config/address.h"
#include "common/config/marked_file.h"
#include "common/units/instrumented.h"

namespace turnpike::config {
namespace {

/// A topology file whose router has a table with this text; a mistake is marked at its key.
class TableFile : public ::testing::Test {
 protected:
  std::string with(const std::string& text, bool wrong) {
    std::ofstream(path_) << text;
    return changed("{lcores: [0, 1]}",
                   "{lcores: [0, 1], routes: {prefix: 10.9.0.0/16, via: left}, "
                   "table: " +
                       std::string(wrong ? "^" : "") + path_ + "}");
  }
  void TearDown() override { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "/turnpike-table-" + std::to_string(getpid());
};

TEST_F(TableFile, AddsItsRoutesBetweenThoseByHandAndTheComputedOnes) {
  const Topology t =
      expect_right(with("# comment\n\n10.9.1.0/24 right\nfd99::/16\t10.0.0.1\n", false));
  const Router& r = t.routers[0];
  EXPECT_EQ(r.ipv4_by_hand, 1U);
  EXPECT_EQ(r.ipv4_in_table, 1U);
  EXPECT_EQ(r.ipv6_in_table, 1U);
  ASSERT_EQ(r.ipv4_routes.size(), 4U);
  EXPECT_EQ(prefix_text(r.ipv4_routes[1].prefix), "10.9.1.0/24");
  EXPECT_EQ(r.ipv4_routes[1].link, 1U);
  EXPECT_EQ(r.ipv6_routes[0].link, 0U);
}

TEST_F(TableFile, HoldsAMillionRoutes) {
  constexpr uint32_t kRoutes = kInstrumented ? 100'000 : 1'000'000;
  std::string text;
  for (uint32_t i = 0; i < kRoutes; ++i)
    text.append(prefix_text(Ipv4Prefix{0x20000000 + (i << 8), 24}))
        .append(i % 2 == 0 ? " left\n" : " right\n");
  EXPECT_EQ(expect_right(with(text, false)).routers[0].ipv4_in_table, kRoutes);
}

TEST_F(TableFile, SaysWhereItIsWrong) {
  const auto mistake = [this](const std::string& table) {
    const Loaded loaded = load_text(with(table, false), "file.yaml");
    EXPECT_EQ(loaded.error().size(), 1U);
    return loaded.error()[0].text();
  };
  const std::string at = path() + ":", key = ": routers.gate.table: ";
  EXPECT_EQ(mistake("10.9.1.0/24\n"),
            at + "1:1" + key + "expected a prefix and a neighbour or link");
  EXPECT_EQ(mistake("10.9.1.0/24 right now\n"),
            at + "1:19" + key + "expected a prefix and a neighbour or link");
  EXPECT_EQ(
      mistake("10.9.1.0/24 right\n10.9.2.0/24 wr\x1bng\n"),
      at + "2:13" + key + "'wr\\x1bng' is neither a neighbour's address nor a link of the router");
  EXPECT_EQ(mistake(" 10.9.1.0/16 right\n"),
            at + "1:2" + key + "'10.9.1.0/16' is no prefix, or bits beyond its length are set");
}

TEST_F(TableFile, IsRefusedAsAWhole) {
  expect_mistakes(with("10.9.0.0/16 right\n", true), {"two routes"});
  expect_mistakes(changed("{lcores: [0, 1]}", "{table: ^/no/such.txt}"),
                  {"'/no/such.txt' cannot be read: No such file"});
  expect_mistakes(changed("{lcores: [0, 1]}", "{table: ^/dev/zero}"), {"it is a device"});
}

}  // namespace
}  // namespace turnpike::config
