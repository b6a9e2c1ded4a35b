// SPDX-License-Identifier: BSD-3-Clause
// Makes INT, TERM and HUP readable from a descriptor, for programs that wait for children.
#pragma once

#include <csignal>

#include <sys/signalfd.h>
#include <unistd.h>

#include "common/program/signals.h"

namespace turnpike::lab {

/// While an object exists, INT, TERM and HUP are read from its descriptor and do not end the
/// process (an ignored HUP stays ignored). PIPE, USR1 and USR2 stay ignored after that.
class Interrupts {
 public:
  Interrupts() {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    if (!is_ignored(SIGHUP)) sigaddset(&wanted, SIGHUP);
    ignore_signals();
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
  /// Takes one signal that has arrived; false if there is none.
  [[nodiscard]] bool take() const {
    signalfd_siginfo info;
    return read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info);
  }

 private:
  int fd_;
  sigset_t before_{};
};

}  // namespace turnpike::lab
