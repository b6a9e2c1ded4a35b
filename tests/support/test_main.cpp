// SPDX-License-Identifier: BSD-3-Clause
// main() of the unit tests. Meson ends a test whose time is up with SIGTERM; the test then writes
// the stack of each of its threads, which tells what it waited for.
#include <array>
#include <csignal>
#include <filesystem>
#include <string>

#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

void write_stack(int /*signal*/) {
  std::array<void*, 64> frames;
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  backtrace_symbols_fd(frames.data(), depth, STDERR_FILENO);
}

/// Allocates in a signal handler: should that block, Meson ends the process with SIGKILL.
void write_stacks(int signal) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string thread = task.path().filename();
    dprintf(STDERR_FILENO, "thread %s:\n", thread.c_str());
    syscall(SYS_tgkill, getpid(), std::stoi(thread), SIGRTMAX);
    usleep(50'000);  // one after the other
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::signal(SIGRTMAX, write_stack);
  std::signal(SIGTERM, write_stacks);
  return RUN_ALL_TESTS();
}
