// SPDX-License-Identifier: BSD-3-Clause
#include "lab/child.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/report/run_data.h"

namespace turnpike::lab {
namespace {

/// Runs in the child, between fork() and exec(), where only async-signal-safe functions may be
/// called. Becomes the program, or returns the errno of the failure. `input`: -1 for an empty one.
/// `parent` is the process that forked it.
int become(char* const* argv, const char* log, int input, int output, pid_t parent) {
  // The kernel ends the child when its parent is killed, since a killed parent cannot. The kernel
  // does not do so if the parent ended before this call: getppid() then differs.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (getppid() != parent) _exit(128 + SIGKILL);
  if (setpgid(0, 0) != 0) return errno;
  if (input < 0) input = open("/dev/null", O_RDONLY);
  const int errors = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (input < 0 || errors < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
      dup2(errors, STDERR_FILENO) < 0) {
    return errno;
  }
  close(input);
  close(errors);
  // This process may have blocked signals to read them from a descriptor; the child unblocks them.
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(argv[0], argv);
  return errno;
}

/// A child with all signals blocked until it has become the program, so that no handler of this
/// process runs in it.
pid_t fork_blocked() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  const int error = errno;
  if (pid != 0) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

struct Pipe {
  int ends[2] = {-1, -1};

  [[nodiscard]] bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  void close(size_t end) {
    if (ends[end] >= 0) ::close(std::exchange(ends[end], -1));
  }
  ~Pipe() {
    close(0);
    close(1);
  }
};

}  // namespace

tl::expected<Child, std::string> Child::start(const Command& command) {
  // The second pipe carries the errno when the program does not start; exec() closes it.
  Pipe input, output, failure;
  if ((command.input && !input.open()) || !output.open() || !failure.open())
    return tl::unexpected(std::string(std::strerror(errno)));
  fcntl(output.ends[0], F_SETFL, O_NONBLOCK);
  std::vector<char*> argv;
  for (const std::string& a : command.argv) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork_blocked();
  if (pid == 0) {
    const int error =
        become(argv.data(), command.log.c_str(), input.ends[0], output.ends[1], parent);
    if (::write(failure.ends[1], &error, sizeof error) < 0) _exit(126);
    _exit(127);
  }
  int error = errno;
  failure.close(1);
  ssize_t length = sizeof error;
  if (pid > 0) {
    do {
      length = ::read(failure.ends[0], &error, sizeof error);
    } while (length < 0 && errno == EINTR);
    if (length > 0) waitpid(pid, nullptr, 0);
  }
  if (length > 0)
    return tl::unexpected("cannot start " + command.argv[0] + ": " + std::strerror(error));
  return Child(command, pid, std::exchange(input.ends[1], -1), std::exchange(output.ends[0], -1));
}

Child::Child(Child&& other) noexcept
    : command_(std::move(other.command_)),
      pid_(std::exchange(other.pid_, 0)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      exit_code_(other.exit_code_),
      reader_(std::move(other.reader_)) {}

Child::~Child() {
  if (ended()) return;
  signal(SIGKILL);
  reap();
}

void Child::reap() {
  close(output_);
  output_ = -1;
  close_input();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = 0;
}

std::vector<std::string> Child::take_lines() {
  if (ended()) return {};
  std::vector<std::string> lines = reader_.take();
  if (reader_.ended()) reap();
  return lines;
}

bool Child::write_line(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = input_ < 0 ? -1 : ::write(input_, text.data() + at, text.size() - at);
    if (n < 0 && input_ >= 0 && errno == EINTR) continue;
    if (n < 0) return false;
    at += static_cast<size_t>(n);
  }
  return true;
}

void Child::close_input() {
  if (input_ >= 0) close(std::exchange(input_, -1));
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
