// SPDX-License-Identifier: BSD-3-Clause
// In processes of their own, since no restriction can be taken back. tests/sandbox tries a whole
// router.
#include "common/program/sandbox/sandbox.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/program/sandbox/every_thread.h"
#include "common/units/instrumented.h"

namespace turnpike {
namespace {

/// Runs `body` in a child process; its result, or -1 if the child ended otherwise.
int in_child(int (*body)()) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int restricted_thread() {
  std::atomic<int> step{0};
  int refused = 0;
  std::thread other([&] {  // starts before the sandbox
    while (step.load() == 0) std::this_thread::yield();
    refused = socket(AF_INET, SOCK_STREAM, 0) == -1 && errno == EPERM ? 1 : 0;
  });
  const auto entered = enter_sandbox({.mode = "on", .writable = {"/tmp"}});
  step.store(1);
  other.join();
  std::thread later([] {});  // threads can still be started
  later.join();
  const Privileges p = privileges();
  const bool all = p.no_new_privileges && p.filtered && p.capabilities == 0 && p.refused == 1;
  return (entered ? 0 : 1) + (refused == 1 ? 0 : 2) + (all ? 0 : 4) +
         (new_refusals() == std::vector<std::string>{"socket 1 times"} ? 0 : 8);
}

TEST(Sandbox, RestrictsThreadsThatRunAlready) {
  if (kInstrumented) GTEST_SKIP() << "sanitizers need what it forbids";
  EXPECT_EQ(in_child(restricted_thread), 0);
}

TEST(Sandbox, OffChangesNothing) {
  EXPECT_EQ(in_child([] {
              const Privileges before = privileges();
              const auto line = enter_sandbox({.mode = "off"});
              const Privileges after = privileges();
              return line == "sandbox: off" && after.capabilities == before.capabilities &&
                             after.no_new_privileges == before.no_new_privileges
                         ? 0
                         : 1;
            }),
            0);
}

TEST(Sandbox, ValgrindIsLeftAlone) {
  EXPECT_EQ(in_child([] {
              setenv("LD_PRELOAD", "/usr/libexec/valgrind/vgpreload_core-amd64-linux.so", 1);
              const bool off =
                  enter_sandbox({.mode = "auto"}).value_or("").starts_with("sandbox: off");
              return off && !enter_sandbox({.mode = "on"}) ? 0 : 1;
            }),
            0);
}

TEST(EveryThread, NamesAThreadThatTakesNoSignals) {
  std::atomic<int> step{0};
  std::thread deaf([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    step.store(1);
    while (step.load() == 1) std::this_thread::yield();
  });
  while (step.load() == 0) std::this_thread::yield();
  const auto done = on_every_thread([](void*) { return 0; }, nullptr);
  step.store(2);
  deaf.join();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().find("takes no signals"), std::string::npos) << done.error();
}

TEST(EveryThread, ReportsAnErrno) {
  const auto done = on_every_thread([](void*) { return EPERM; }, nullptr);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().find("Operation not permitted"), std::string::npos) << done.error();
}

}  // namespace
}  // namespace turnpike
