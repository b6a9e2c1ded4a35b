// SPDX-License-Identifier: BSD-3-Clause
// The history survives crashes at every step, and does not depend on files that change later.
#include "router/reload/history.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/config/load.h"
#include "common/units/instrumented.h"

namespace turnpike::router::history_test {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "turnpike-history-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

std::string yaml(uint64_t mbps, const std::string& table = "") {
  return "run: { seed: " + std::to_string(mbps) +
         " }\nhosts: { a: { budget: 1 $/s }, b: }\nrouters: { r: {" +
         (table.empty() ? "" : " table: " + table) +
         " } }\nlinks:\n  in: { ends: [a, r], rate: 1 Gbps }\n  out: { ends: [r, b], rate: " +
         std::to_string(mbps) + " Mbps }\n";
}

config::Topology topology(uint64_t mbps) {
  auto t = config::load_text(yaml(mbps), "a.yaml");
  if (!t) ADD_FAILURE() << t.error().front().text();
  return std::move(*t);
}

/// The rate of an entry that loads whole; 0: it does not.
uint64_t rate_of(const History& h, uint64_t number) {
  const auto t = config::load_file(h.path(number));
  if (!t) return 0;
  const auto rate = static_cast<uint64_t>(t->links[1].directions[0].rate.count()) / 1'000'000;
  return rate == t->run.seed ? rate : 0;
}

TEST(History, BeginsEmptyAndStartsWithTheLastCommitted) {
  const Folder folder;
  {
    auto h = History::open(folder.path + "/r");
    ASSERT_TRUE(h) << h.error();
    EXPECT_FALSE(h->start().number);
    const auto one = h->add(topology(10), "a.yaml");
    ASSERT_TRUE(one) << one.error();
    EXPECT_FALSE(h->committed());
    ASSERT_TRUE(h->commit(*one));
    const auto two = h->add(topology(20), "b.yaml");
    ASSERT_TRUE(h->commit(*two));
    EXPECT_EQ(h->before(1), *one);
    EXPECT_FALSE(h->commit(77));
  }
  const auto h = History::open(folder.path + "/r");
  ASSERT_TRUE(h);
  EXPECT_EQ(rate_of(*h, *h->committed()), 20U);
  const auto all = h->entries();
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(all->at(0).source, "a.yaml");
  EXPECT_TRUE(all->at(1).committed);
}

TEST(History, AnUnconfirmedChangeIsRevertedAtTheStartAndSaysSo) {
  const Folder folder;
  {
    auto h = History::open(folder.path);
    ASSERT_TRUE(h->commit(*h->add(topology(10), "a")));
    ASSERT_TRUE(h->set_pending(*h->add(topology(20), "b")));
  }
  auto h = History::open(folder.path);
  EXPECT_EQ(h->pending(), 2U);
  const auto start = h->start();
  EXPECT_EQ(start.number, 1U);
  EXPECT_EQ(start.note,
            "configuration 2 was not confirmed before the program ended, and is reverted to 1");
  EXPECT_FALSE(h->pending());
  EXPECT_TRUE(h->start().note.empty());
}

TEST(History, IsBoundedAndKeepsTheCommittedOne) {
  const Folder folder;
  auto h = History::open(folder.path, 5);
  ASSERT_TRUE(h->commit(*h->add(topology(1), "")));
  for (uint64_t i = 2; i <= 20; ++i) (void)h->add(topology(i), "");
  ASSERT_TRUE(h->commit(20));
  const auto all = h->entries();
  EXPECT_LE(all->size(), 6U);
  EXPECT_EQ(rate_of(*h, 20), 20U);
  EXPECT_EQ(h->before(1), 1U) << "stays, to roll back to";
}

TEST(History, DoesNotDependOnFilesThatChangeLater) {
  const Folder folder, given;
  std::ofstream(given.path + "/routes.txt") << "10.50.0.0/16 out\n";
  std::ofstream(given.path + "/a.yaml") << yaml(10, "routes.txt");
  const auto t = config::load_file(given.path + "/a.yaml");
  ASSERT_TRUE(t) << t.error().front().text();
  auto h = History::open(folder.path);
  const auto number = h->add(*t, "a.yaml");
  ASSERT_TRUE(number) << number.error();
  std::ofstream(given.path + "/routes.txt") << "nonsense\n";
  const auto again = config::load_file(h->path(*number));
  ASSERT_TRUE(again) << again.error().front().text();
  EXPECT_EQ(again->routers[0].ipv4_in_table, 1U);
}

TEST(History, GoesBackInTheOrderOfTheCommits) {
  const Folder folder;
  auto h = History::open(folder.path);
  for (const uint64_t rate : {10, 20, 30}) ASSERT_TRUE(h->commit(*h->add(topology(rate), "a")));
  ASSERT_TRUE(h->commit(2));
  ASSERT_TRUE(h->add(topology(40), "never committed"));
  EXPECT_EQ(h->before(0), 2U);
  EXPECT_EQ(h->before(1), 3U);
  EXPECT_EQ(h->before(2), 1U);
  EXPECT_FALSE(h->before(3));
  EXPECT_FALSE(h->before(SIZE_MAX));
}

TEST(History, KeepsNoEntryThatWasReverted) {
  const Folder folder;
  auto h = History::open(folder.path, 4);
  for (const uint64_t rate : {10, 20}) ASSERT_TRUE(h->commit(*h->add(topology(rate), "a")));
  for (uint64_t rate = 100; rate < 110; ++rate) {
    ASSERT_TRUE(h->set_pending(*h->add(topology(rate), "a")));
    ASSERT_TRUE(h->drop_pending());
  }
  EXPECT_EQ(h->entries()->size(), 2U);
  EXPECT_EQ(h->before(1), 1U);
}

TEST(History, LeavesNoPartOfAnEntryThatCannotBeStored) {
  const Folder folder;
  auto h = History::open(folder.path);
  config::Topology t = topology(10);
  t.routers[0].table = folder.path + "/absent";
  EXPECT_FALSE(h->add(t, "a"));
  unsigned steps = 0;
  h->on_step([&] {  // before the configuration is written, as on a full disk
    if (++steps == 3) fs::create_directory(folder.path + "/000002.part/config.yaml");
  });
  const auto done = h->add(topology(10), "a");
  ASSERT_FALSE(done);
  EXPECT_FALSE(fs::exists(folder.path + "/000002.part")) << done.error();
}

TEST(History, StartsWithTheCommittedThoughTheStateCannotBeWritten) {
  const Folder folder;
  {
    auto h = History::open(folder.path);
    ASSERT_TRUE(h->commit(*h->add(topology(10), "a")));
    ASSERT_TRUE(h->set_pending(*h->add(topology(20), "b")));
  }
  auto h = History::open(folder.path);
  ASSERT_TRUE(h);
  fs::create_directory(folder.path + "/state.part");  // as on a full disk
  const History::Start start = h->start();
  EXPECT_EQ(start.number, 1U);
  EXPECT_NE(start.note.find("state.part"), std::string::npos) << start.note;
}

TEST(History, DoesNotTakeABrokenLinkForNoState) {
  const Folder folder;
  fs::create_symlink("/nonexistent/state", folder.path + "/state");
  const auto h = History::open(folder.path);
  ASSERT_FALSE(h) << "the committed configuration would be forgotten";
  EXPECT_NE(h.error().find(folder.path + "/state"), std::string::npos) << h.error();
}

TEST(History, OneProcessAtATime) {
  const Folder folder;
  const auto first = History::open(folder.path);
  ASSERT_TRUE(first);
  const auto second = History::open(folder.path);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().find("in use"), std::string::npos);
}

TEST(History, SaysThatItsStateIsDamaged) {
  const Folder folder;
  std::ofstream(folder.path + "/state") << "{\"commits\": [1, -3";
  EXPECT_FALSE(History::open(folder.path));
  std::ofstream(folder.path + "/state") << "{\"commits\": [4]}";
  EXPECT_FALSE(History::open(folder.path)) << "that entry is missing";
}

/// Adds, commits, marks and drops at random for ever; the child that is killed. Writes to `told`
/// which rate was committed, before and after each commit.
[[noreturn]] void play(const std::string& folder, unsigned seed, unsigned fatal_step, int told) {
  auto h = History::open(folder, 4);
  if (!h) _exit(3);
  unsigned steps = 0;
  h->on_step([&] {
    if (++steps == fatal_step) ::raise(SIGKILL);
  });
  (void)h->start();
  std::mt19937 random(seed);
  const auto tell = [&](char kind, uint64_t rate) {
    const std::string line = kind + std::to_string(rate) + "\n";
    (void)!::write(told, line.data(), line.size());
  };
  for (;;) {
    const uint64_t rate = 1 + random() % 900;
    auto t = config::load_text(yaml(rate), "a.yaml");
    const auto number = h->add(*t, "test");
    if (!number) _exit(4);
    if (random() % 2 == 0) (void)h->set_pending(*number);
    if (random() % 3 == 0) {
      (void)h->drop_pending();
      continue;
    }
    tell('?', rate);
    if (h->commit(*number)) tell('!', rate);
  }
}

/// Kills a child, and checks that the folder gives what was committed last, whole.
void kill_one(const std::string& folder, unsigned seed, unsigned fatal_step, useconds_t after,
              uint64_t& committed) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    play(folder, seed, fatal_step, pipe[1]);
  }
  ::close(pipe[1]);
  if (fatal_step == 0) {
    ::usleep(after);
    ::kill(child, SIGKILL);
  }
  std::string told;
  char buffer[4096];
  for (ssize_t n; (n = ::read(pipe[0], buffer, sizeof buffer)) > 0;)
    told.append(buffer, static_cast<size_t>(n));
  ::close(pipe[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << WEXITSTATUS(status);
  // The last commit may or may not have happened.
  uint64_t before = committed, maybe = 0;
  for (size_t at = 0; at < told.size();) {
    const size_t end = told.find('\n', at);
    if (end == std::string::npos) break;
    const uint64_t rate = std::stoull(told.substr(at + 1, end - at - 1));
    (told[at] == '!' ? before : maybe) = rate;
    if (told[at] == '!') maybe = 0;
    at = end + 1;
  }
  auto h = History::open(folder, 4);
  ASSERT_TRUE(h) << h.error();
  const auto start = h->start();
  committed = start.number ? rate_of(*h, *start.number) : 0;
  EXPECT_TRUE(committed == before || (maybe != 0 && committed == maybe))
      << committed << ", not " << before << " or " << maybe;
  EXPECT_LE(h->entries()->size(), 4U + 60U);
}

TEST(History, SurvivesAKillAtEveryStep) {
  const Folder folder;
  uint64_t committed = 0;
  for (unsigned step = 1; step <= 40; step += kInstrumented ? 3 : 1)
    kill_one(folder.path, step, step, 0, committed);
}

/// How long the disk takes now to store and commit a configuration.
int64_t micros_of_a_commit() {
  const Folder folder;
  auto h = History::open(folder.path);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(h->commit(*h->add(topology(10), "a")));
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                               begin)
      .count();
}

TEST(History, SurvivesKillsAtRandomMoments) {
  const Folder folder;
  uint64_t committed = 0;
  std::mt19937 random(1);
  auto longest = static_cast<uint64_t>(4 * micros_of_a_commit());
  unsigned i = 0;
  do {
    for (const unsigned end = i + (kInstrumented ? 20 : 100); i < end; ++i)
      kill_one(folder.path, i, 0, static_cast<useconds_t>(random() % longest), committed);
    longest *= 4;  // a busy machine may let none of them come so far
  } while (committed == 0 && longest < 40'000'000);
  EXPECT_GT(committed, 0U);
}

}  // namespace
}  // namespace turnpike::router::history_test
