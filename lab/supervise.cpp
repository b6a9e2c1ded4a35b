// SPDX-License-Identifier: BSD-3-Clause
#include "lab/supervise.h"

#include <algorithm>
#include <csignal>
#include <optional>

#include <poll.h>

#include "common/config/exit_codes.h"
#include "lab/interrupts.h"

namespace turnpike::lab {
namespace {

class Supervision {
 public:
  Supervision(const ProcessSet& processes, const OnLine& on_line)
      : processes_(processes), on_line_(on_line) {}

  void run(int grace_ms) {
    for (const Command& router : processes_.routers) start(router);
    while (!failure_ && !sender_started_ && interruptions_ == 0 && !routers_ready()) turn(-1);
    if (!failure_ && interruptions_ == 0) {
      sender_started_ = true;
      start(processes_.sender);
    }
    if (failure_ || !sender_started_) stop();
    while (
        std::any_of(children_.begin(), children_.end(), [](const Child& c) { return !c.ended(); }))
      turn(stopping_ ? grace_ms : -1);
  }

  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }

 private:
  void start(const Command& command) {
    if (failure_) return;
    auto child = Child::start(command);
    if (!child) return fail({kExitRuntime, child.error()});
    children_.push_back(std::move(*child));
    said_something_.push_back(false);
  }

  /// A router that has written a line has opened its ports, so that senders can connect.
  [[nodiscard]] bool routers_ready() const {
    return std::find(said_something_.begin(), said_something_.end(), false) ==
           said_something_.end();
  }

  /// Waits for output, an end or a signal, and handles it.
  void turn(int timeout_ms) {
    std::vector<pollfd> fds{{.fd = interrupts_.fd(), .events = POLLIN, .revents = 0}};
    for (const Child& c : children_)
      fds.push_back({.fd = c.output(), .events = POLLIN, .revents = 0});  // poll skips -1
    if (poll(fds.data(), fds.size(), timeout_ms) == 0) return signal_all(SIGKILL);
    while (interrupts_.take()) interrupted();
    for (size_t i = 0; i < children_.size(); ++i) serve(i);
  }

  void interrupted() {
    if (++interruptions_ == 1 && sender_started_ && !children_.back().ended())
      children_.back().signal(SIGTERM);
    else
      signal_all(SIGTERM);
  }

  void serve(size_t i) {
    Child& child = children_[i];
    if (child.ended()) return;
    for (const std::string& line : child.take_lines()) {
      said_something_[i] = true;
      on_line_(child.command(), line);
    }
    if (!child.ended()) return;
    const bool sender = sender_started_ && &child == &children_.back();
    const std::string log = "; its log ends (" + child.command().log + "):\n" + child.log_tail();
    // TERM ended it before its handler was installed: no failure.
    const bool asked = stopping_ && child.exit_code() == 128 + SIGTERM;
    if (child.exit_code() > 128 && !asked) {
      fail({kExitRuntime, child.command().name + " was ended by signal " +
                              std::to_string(child.exit_code() - 128) + log});
    } else if (child.exit_code() != 0 && !asked) {
      fail({child.exit_code(), child.command().name + " failed with exit code " +
                                   std::to_string(child.exit_code()) + log});
    } else if (!sender && !stopping_ && interruptions_ == 0) {
      fail({kExitRuntime, child.command().name + " ended before the sender did" + log});
    }
    if (sender || failure_) stop();
  }

  void stop() {
    if (!stopping_) signal_all(SIGTERM);
    stopping_ = true;
  }

  void signal_all(int number) {
    for (const Child& c : children_) c.signal(number);
  }

  void fail(Failure failure) {
    if (!failure_) failure_ = std::move(failure);
  }

  const ProcessSet& processes_;
  const OnLine& on_line_;
  Interrupts interrupts_;
  std::vector<Child> children_;       // the sender is the last
  std::vector<bool> said_something_;  // indexed as children_
  std::optional<Failure> failure_;
  int interruptions_ = 0;
  bool sender_started_ = false;
  bool stopping_ = false;
};

}  // namespace

tl::expected<void, Failure> supervise(const ProcessSet& processes, const OnLine& on_line,
                                      int grace_ms) {
  Supervision supervision(processes, on_line);
  supervision.run(grace_ms);
  if (supervision.failure()) return tl::unexpected(*supervision.failure());
  return {};
}

}  // namespace turnpike::lab
