// SPDX-License-Identifier: BSD-3-Clause
// INT and TERM as something to poll, for programs that wait for children.
#pragma once

#include <csignal>

#include <sys/signalfd.h>
#include <unistd.h>

namespace turnpike::lab {

/// For as long as it lives, INT and TERM come to its descriptor and end nothing by themselves.
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
  /// True once for each that has come.
  [[nodiscard]] bool take() const {
    signalfd_siginfo info;
    return read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info);
  }

 private:
  int fd_;
  sigset_t before_{};
};

}  // namespace turnpike::lab
