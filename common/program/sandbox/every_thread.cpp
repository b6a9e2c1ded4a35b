// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/sandbox/every_thread.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

namespace turnpike {
namespace {

constexpr std::chrono::seconds kPatience{2};

/// The call in progress, which the signal handler reads.
struct Visit {
  int (*act)(void*) = nullptr;
  void* argument = nullptr;
  std::atomic<bool> done{false};
  std::atomic<int> error{0};
};
Visit current;

int visiting_signal() { return SIGRTMAX - 2; }

void on_visit(int /*number*/) {
  const int kept = errno;
  current.error.store(current.act(current.argument));
  current.done.store(true);
  errno = kept;
}

std::set<pid_t> threads() {
  std::set<pid_t> ids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error))
    ids.insert(static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10)));
  return ids;
}

std::string thread_text(pid_t thread) {
  std::string name;
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::getline(in, name);
  return "thread " + std::to_string(thread) + " (" + name + ")";
}

bool ended(pid_t thread) { return syscall(SYS_tgkill, getpid(), thread, 0) != 0; }

/// Empty: the thread has run it, or has ended.
std::string go_to(pid_t thread) {
  current.done.store(false);
  current.error.store(0);
  if (syscall(SYS_tgkill, getpid(), thread, visiting_signal()) != 0) return {};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!current.done.load()) {
    if (ended(thread)) return {};
    if (std::chrono::steady_clock::now() > end) return thread_text(thread) + " takes no signals";
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  const int error = current.error.load();
  return error == 0 ? "" : thread_text(thread) + ": " + std::strerror(error);
}

/// Visits all other threads; the first failure, or empty.
std::string go_to_others() {
  std::set<pid_t> visited = {static_cast<pid_t>(syscall(SYS_gettid))};
  for (bool found = true; found;) {
    found = false;
    const std::set<pid_t> present = threads();
    if (present.empty()) return "/proc/self/task cannot be read";
    for (const pid_t thread : present) {
      if (!visited.insert(thread).second) continue;
      found = true;
      if (std::string why = go_to(thread); !why.empty()) return why;
    }
  }
  return {};
}

}  // namespace

tl::expected<void, std::string> on_every_thread(int (*act)(void* argument), void* argument) {
  if (const int error = act(argument); error != 0)
    return tl::unexpected(thread_text(static_cast<pid_t>(syscall(SYS_gettid))) + ": " +
                          std::strerror(error));
  current.act = act;
  current.argument = argument;
  struct sigaction action {
  }, before{};
  action.sa_handler = on_visit;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  if (sigaction(visiting_signal(), &action, &before) != 0)
    return tl::unexpected(std::string(std::strerror(errno)));
  std::string why = go_to_others();
  // After a failure a late signal may still come: its handler stays.
  if (why.empty()) sigaction(visiting_signal(), &before, nullptr);
  if (!why.empty()) return tl::unexpected(std::move(why));
  return {};
}

}  // namespace turnpike
