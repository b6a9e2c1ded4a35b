// SPDX-License-Identifier: BSD-3-Clause
// Check, apply, confirm, revert and roll back on a running router.
#include "router/reload/reconfigurer.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "common/config/load.h"
#include "tests/support/eal.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

constexpr const char* kFile = R"(
hosts: { a: { budget: 1 $/s }, b: , c: }
routers: { gate: }
links:
  left: { ends: [gate, a], rate: 1 Gbps }
  right: { ends: [gate, b], rate: 8 Mbps, buffer: 100 KB, law: fcp }
  narrow: { ends: [gate, c], rate: 1 Gbps }
)";

std::string with_rate(const std::string& rate) {
  std::string text = kFile;
  return text.replace(text.find("8 Mbps"), 6, rate);
}

struct Fixture {
  std::string folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "turnpike-reload-XXXXXX").string();
    return std::string(::mkdtemp(name.data()));
  }();
  config::Topology start = *config::load_text(kFile, "start.yaml");
  World world{1, start};
  int held = 0;
  bool stuck = false;
  std::function<void()> during;  // called at each change
  Reconfigurer verbs{
      world.router(),
      start,
      *History::open(folder),
      {.hold = [this](const std::function<void()>& change) -> tl::expected<void, std::string> {
        if (stuck) return tl::unexpected(std::string("worker 0 is stuck"));
        ++held;
        if (during) during();
        change();
        return {};
      }}};

  ~Fixture() { std::filesystem::remove_all(folder); }
  BitRate rate() { return world.snapshot().links[kRight].rate; }
  Reconfigurer::Checked check(const std::string& rate) {
    auto c = verbs.check_text(with_rate(rate), "new.yaml");
    if (!c) ADD_FAILURE() << c.error().front().text();
    return std::move(*c);
  }
};

TEST(Reconfigurer, ChecksWithoutChanging) {
  Fixture f;
  ASSERT_TRUE(f.verbs.begin("start.yaml"));
  const auto bad = f.verbs.check_text("links: {", "bad.yaml");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().front().file, "bad.yaml");
  EXPECT_EQ(f.check("20 Mbps").plan.changes.size(), 1U) << f.check("20 Mbps").plan.text();
  EXPECT_EQ(f.rate(), 8_Mbps);
  EXPECT_EQ(f.held, 0);
  EXPECT_FALSE(f.verbs.check_file("/nonexistent.yaml"));
}

TEST(Reconfigurer, AppliesAndCommitsAtOnce) {
  Fixture f;
  ASSERT_TRUE(f.verbs.begin("start.yaml"));
  const auto done = f.verbs.apply(f.check("20 Mbps"), 1_s);
  ASSERT_TRUE(done) << done.error();
  EXPECT_EQ(*done, "configuration 2 is applied");
  EXPECT_EQ(f.rate(), 20_Mbps);
  EXPECT_EQ(f.verbs.history()->committed(), 2U);
  EXPECT_EQ(*f.verbs.apply(f.check("20 Mbps"), 1_s), "nothing changes");
  EXPECT_EQ(f.verbs.next(), kNever);
}

TEST(Reconfigurer, RevertsByItselfUnlessConfirmed) {
  Fixture f;
  ASSERT_TRUE(f.verbs.begin("start.yaml"));
  ASSERT_TRUE(f.verbs.apply(f.check("20 Mbps"), 1_s, 60_s));
  EXPECT_EQ(f.rate(), 20_Mbps);
  EXPECT_EQ(f.verbs.next(), 61_s);
  EXPECT_FALSE(f.verbs.apply(f.check("30 Mbps"), 2_s)) << "one change at a time";
  EXPECT_FALSE(f.verbs.poll(60_s));
  const auto said = f.verbs.poll(61_s);
  ASSERT_TRUE(said);
  EXPECT_EQ(**said, "not confirmed in time: configuration 2 is reverted");
  EXPECT_EQ(f.rate(), 8_Mbps);
  EXPECT_EQ(f.verbs.history()->committed(), 1U);
  EXPECT_FALSE(f.verbs.commit());

  ASSERT_TRUE(f.verbs.apply(f.check("30 Mbps"), 70_s, 60_s));
  ASSERT_TRUE(f.verbs.commit());
  EXPECT_FALSE(f.verbs.poll(200_s));
  EXPECT_EQ(f.rate(), 30_Mbps);
  EXPECT_EQ(f.verbs.history()->committed(), 3U);
}

TEST(Reconfigurer, RollsBack) {
  Fixture f;
  ASSERT_TRUE(f.verbs.begin("start.yaml"));
  EXPECT_FALSE(f.verbs.rollback(0, 1_s)) << "there is nothing before";
  ASSERT_TRUE(f.verbs.apply(f.check("20 Mbps"), 1_s));
  ASSERT_TRUE(f.verbs.apply(f.check("30 Mbps"), 1_s));
  ASSERT_TRUE(f.verbs.apply(f.check("40 Mbps"), 1_s, 60_s));
  ASSERT_TRUE(f.verbs.rollback(0, 2_s));
  EXPECT_EQ(f.rate(), 30_Mbps) << "takes the unconfirmed change back";
  ASSERT_TRUE(f.verbs.rollback(0, 2_s));
  EXPECT_EQ(f.rate(), 20_Mbps);
  const auto one = f.verbs.rollback(1, 2_s);
  ASSERT_TRUE(one) << one.error();
  EXPECT_EQ(f.rate(), 8_Mbps);
  EXPECT_EQ(f.verbs.history()->committed(), 1U);
  EXPECT_FALSE(f.verbs.rollback(99, 2_s));
}

TEST(Reconfigurer, AStuckWorkerChangesNothing) {
  Fixture f;
  ASSERT_TRUE(f.verbs.begin("start.yaml"));
  f.stuck = true;
  const auto done = f.verbs.apply(f.check("20 Mbps"), 1_s);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), "worker 0 is stuck");
  EXPECT_EQ(f.rate(), 8_Mbps);
  EXPECT_FALSE(f.verbs.history()->pending());
  f.stuck = false;
  ASSERT_TRUE(f.verbs.apply(f.check("20 Mbps"), 1_s, 1_s));
  f.stuck = true;
  const auto failed = f.verbs.poll(2_s);
  ASSERT_TRUE(failed);
  EXPECT_FALSE(*failed);
  EXPECT_EQ(f.rate(), 20_Mbps) << "tries again later";
  f.stuck = false;
  EXPECT_FALSE(f.verbs.poll(2_s + 1_ms));
  EXPECT_TRUE(f.verbs.poll(3_s));
  EXPECT_EQ(f.rate(), 8_Mbps);
}

TEST(Reconfigurer, ARefusedPlanIsRefusedAsAWhole) {
  Fixture f;
  ASSERT_TRUE(f.verbs.begin("start.yaml"));
  std::string text = with_rate("20 Mbps");
  text.replace(text.find("law: fcp"), 8, "law: fcp, mtu: 1400");
  const auto checked = f.verbs.check_text(text, "new.yaml");
  ASSERT_TRUE(checked);
  const auto done = f.verbs.apply(*checked, 1_s);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().find("links.right.mtu"), std::string::npos);
  EXPECT_EQ(f.rate(), 8_Mbps);
  EXPECT_EQ(f.verbs.history()->entries()->size(), 1U);
}

TEST(Reconfigurer, KeepsTheOrderOfLinksAndRoutersOfAFileThatListsThemOtherwise) {
  Fixture f;
  ASSERT_TRUE(f.verbs.begin("start.yaml"));
  // With the addresses that the links have by their places in the first file.
  const auto apply = [&](const std::string& rate) {
    const std::string text =
        "hosts: { a: { budget: 1 $/s }, b: , c: }\nrouters: { gate: }\nlinks:\n"
        "  right: { macs: { gate: 02:54:50:00:01:01, b: 02:54:50:00:01:02 }, ends: [gate, b], "
        "rate: " +
        rate +
        ", buffer: 100 KB, law: fcp }\n"
        "  narrow: { macs: { gate: 02:54:50:00:02:01, c: 02:54:50:00:02:02 }, ends: [gate, c], "
        "rate: 1 Gbps }\n"
        "  left: { macs: { gate: 02:54:50:00:00:01, a: 02:54:50:00:00:02 }, ends: [gate, a], rate: "
        "1 Gbps }\n";
    const auto checked = f.verbs.check_text(text, "new.yaml");
    ASSERT_TRUE(checked) << checked.error().front().text();
    const auto done = f.verbs.apply(*checked, 1_s);
    ASSERT_TRUE(done) << done.error();
  };
  apply("20 Mbps");
  EXPECT_EQ(f.rate(), 20_Mbps);
  apply("30 Mbps");
  EXPECT_EQ(f.rate(), 30_Mbps);
  const Snapshot now = f.world.snapshot();
  const config::Topology& running = f.verbs.running();
  const config::Router& self = running.routers[f.verbs.node()];
  for (size_t l = 0; l < now.links.size(); ++l)
    EXPECT_EQ(running.links[self.links[l]].name, now.links[l].name);
}

/// Makes writes to the folder's state fail, as on a full disk.
class FailingState {
 public:
  explicit FailingState(std::string folder) : path_(std::move(folder) + "/state.part") {
    std::filesystem::create_directory(path_);
  }
  ~FailingState() { std::filesystem::remove(path_); }
  FailingState(const FailingState&) = delete;
  FailingState& operator=(const FailingState&) = delete;

 private:
  std::string path_;
};

TEST(Reconfigurer, ChangesNothingThatCannotBeKept) {
  Fixture f;
  ASSERT_TRUE(f.verbs.begin("start.yaml"));
  const auto checked = f.check("20 Mbps");
  std::optional<FailingState> full;
  f.during = [&] { full.emplace(f.folder); };  // after the mark, before the commit
  const auto done = f.verbs.apply(checked, 1_s);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().find("nothing was changed"), std::string::npos) << done.error();
  EXPECT_EQ(f.rate(), 8_Mbps);
  EXPECT_EQ(f.verbs.history()->committed(), 1U);
  f.during = nullptr;
  full.reset();
  const auto again = f.verbs.apply(f.check("20 Mbps"), 2_s);
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(f.rate(), 20_Mbps);
  EXPECT_EQ(f.verbs.history()->entries()->size(), 2U) << "of the failed one nothing is left";
}

TEST(Reconfigurer, RevertsThoughTheHistoryCannotBeWritten) {
  Fixture f;
  ASSERT_TRUE(f.verbs.begin("start.yaml"));
  ASSERT_TRUE(f.verbs.apply(f.check("20 Mbps"), 1_s, 1_s));
  const FailingState full(f.folder);
  const auto said = f.verbs.poll(2_s);
  ASSERT_TRUE(said);
  EXPECT_EQ(**said, "not confirmed in time: configuration 2 is reverted");
  EXPECT_EQ(f.rate(), 8_Mbps);
  EXPECT_EQ(f.verbs.next(), kNever);
}

TEST(Reconfigurer, WorksWithoutAHistory) {
  Fixture f;
  Reconfigurer plain(f.world.router(), f.start, {}, {.hold = [](const auto& change) {
                       change();
                       return tl::expected<void, std::string>();
                     }});
  ASSERT_TRUE(plain.begin(""));
  auto checked = plain.check_text(with_rate("20 Mbps"), "new.yaml");
  ASSERT_TRUE(plain.apply(*checked, 1_s, 1_s));
  const auto back = plain.check_entry(0);
  ASSERT_TRUE(back) << back.error().front().text();
  EXPECT_EQ(back->plan.changes.size(), 1U);
  ASSERT_TRUE(plain.rollback(0, 1_s));
  EXPECT_EQ(f.rate(), 8_Mbps);
  EXPECT_FALSE(plain.rollback(0, 1_s));
}

}  // namespace
}  // namespace turnpike::router::test
