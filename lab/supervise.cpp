// SPDX-License-Identifier: BSD-3-Clause
#include "lab/supervise.h"

#include <algorithm>
#include <csignal>
#include <optional>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/config/exit_codes.h"

namespace turnpike::lab {
namespace {

/// INT and TERM as something to poll, for as long as it lives.
class Interrupts {
 public:
  Interrupts() {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigprocmask(SIG_BLOCK, &wanted, &before_);
    fd_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts() {
    close(fd_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool take() const {
    signalfd_siginfo info;
    return read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info);
  }

 private:
  int fd_;
  sigset_t before_{};
};

class Supervision {
 public:
  explicit Supervision(const OnLine& on_line) : on_line_(on_line) {}

  bool start(const Command& command) {
    auto child = Child::start(command);
    if (!child) {
      fail({kExitRuntime, child.error()});
      return false;
    }
    children_.push_back(std::move(*child));
    return true;
  }

  /// Until all have ended; `sender` is the last that was started.
  void run(int grace_ms) {
    while (std::any_of(children_.begin(), children_.end(),
                       [](const Child& c) { return !c.ended(); })) {
      const bool events = wait(stopping_ ? grace_ms : -1);
      if (!events) {
        // They were asked and did not go.
        signal_all(SIGKILL);
        continue;
      }
      while (interrupts_.take()) interrupted();
      for (Child& child : children_) serve(child);
    }
  }

  void signal_all(int number) {
    for (const Child& c : children_) c.signal(number);
  }

  void fail(Failure failure) {
    if (!failure_) failure_ = std::move(failure);
  }

  std::optional<Failure> failure_;

 private:
  [[nodiscard]] bool wait(int timeout_ms) const {
    std::vector<pollfd> fds{{.fd = interrupts_.fd(), .events = POLLIN, .revents = 0}};
    for (const Child& c : children_)
      fds.push_back({.fd = c.output(), .events = POLLIN, .revents = 0});  // poll skips -1
    return poll(fds.data(), fds.size(), timeout_ms) != 0;
  }

  void interrupted() {
    if (++interruptions_ == 1 && !children_.back().ended())
      children_.back().signal(SIGTERM);
    else
      signal_all(SIGTERM);
  }

  void serve(Child& child) {
    if (child.ended()) return;
    for (const std::string& line : child.take_lines()) on_line_(child.command(), line);
    if (!child.ended()) return;
    const bool sender = &child == &children_.back();
    // Asked to go before it could prepare for it: that is not its failure.
    const bool asked = stopping_ && child.exit_code() == 128 + SIGTERM;
    if (child.exit_code() != 0 && !asked) {
      const bool killed = child.exit_code() > 128;
      fail({killed ? kExitRuntime : child.exit_code(),
            child.command().name +
                (killed ? " was ended by signal " + std::to_string(child.exit_code() - 128)
                        : " failed with exit code " + std::to_string(child.exit_code())) +
                "; its log ends (" + child.command().log + "):\n" + child.log_tail()});
    } else if (!sender && !stopping_) {
      fail({kExitRuntime, child.command().name + " ended before the sender did; its log ends (" +
                              child.command().log + "):\n" + child.log_tail()});
    }
    if (!stopping_ && (sender || failure_)) {
      stopping_ = true;
      signal_all(SIGTERM);
    }
  }

  const OnLine& on_line_;
  Interrupts interrupts_;
  std::vector<Child> children_;
  int interruptions_ = 0;
  bool stopping_ = false;
};

}  // namespace

tl::expected<void, Failure> supervise(const Cast& cast, const OnLine& on_line, int grace_ms) {
  Supervision supervision(on_line);
  bool started = true;
  for (const Command& router : cast.routers) started = started && supervision.start(router);
  if (started && supervision.start(cast.sender)) supervision.run(grace_ms);
  if (supervision.failure_) return tl::unexpected(*supervision.failure_);
  return {};
}

}  // namespace turnpike::lab
