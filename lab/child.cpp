// SPDX-License-Identifier: BSD-3-Clause
#include "lab/child.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/report/run_data.h"

namespace turnpike::lab {
namespace {

constexpr size_t kLongestLine = 1 << 20;  // B; more without an end is thrown away

}  // namespace

tl::expected<Child, std::string> Child::start(const Command& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(std::string(std::strerror(errno)));
  fcntl(ends[0], F_SETFL, O_NONBLOCK);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, command.log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // This process may have blocked signals to take them in turn; a child starts afresh.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  std::vector<char*> argv;
  for (const std::string& a : command.argv) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return tl::unexpected("cannot start " + command.argv[0] + ": " + std::strerror(error));
  }
  return Child(command, pid, ends[0]);
}

Child::Child(Child&& other) noexcept
    : command_(std::move(other.command_)),
      pid_(std::exchange(other.pid_, 0)),
      output_(std::exchange(other.output_, -1)),
      exit_code_(other.exit_code_),
      partial_(std::move(other.partial_)) {}

Child::~Child() {
  if (ended()) return;
  signal(SIGKILL);
  reap();
}

void Child::reap() {
  close(output_);
  output_ = -1;
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = 0;
}

std::vector<std::string> Child::take_lines() {
  std::vector<std::string> lines;
  char buffer[4096];
  while (!ended()) {
    const ssize_t n = read(output_, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;  // nothing more for now
    if (n == 0) {
      if (!partial_.empty()) lines.push_back(std::exchange(partial_, ""));
      reap();
      break;
    }
    for (const char c : std::string_view(buffer, static_cast<size_t>(n))) {
      if (c == '\n')
        lines.push_back(std::exchange(partial_, ""));
      else if (partial_.size() < kLongestLine)
        partial_ += c;
    }
  }
  return lines;
}

void Child::signal(int number) const {
  if (pid_ > 0) kill(pid_, number);
}

std::string Child::log_tail(size_t lines) const {
  const auto read = report::read_text(command_.log);
  std::string text = read ? *read : "";
  size_t at = text.size();
  while (at > 0 && text[at - 1] == '\n') --at;
  text.resize(at);
  for (; at > 0; --at)
    if (text[at - 1] == '\n' && --lines == 0) break;
  return text.substr(at);
}

}  // namespace turnpike::lab
