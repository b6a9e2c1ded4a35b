// SPDX-License-Identifier: BSD-3-Clause
#include "common/metrics/nonblocking_output.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace turnpike::metrics {
namespace {

// B written at a time where only poll() tells whether a write would wait: a pipe that poll() calls
// writable has room for them, and a terminal in practice.
constexpr size_t kPolled = 512;

bool writable(int fd) {
  pollfd p{.fd = fd, .events = POLLOUT, .revents = 0};
  return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT) != 0;
}

}  // namespace

NonBlockingOutput::NonBlockingOutput(int fd) : fd_(fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return;
  socket_ = S_ISSOCK(status.st_mode);
  waits_ = socket_ || S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode);
  // Of a file that is opened again, only this process has the flags.
  if (waits_ && !socket_)
    own_ = open(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

NonBlockingOutput::~NonBlockingOutput() {
  write_rest();
  if (own_ >= 0) close(own_);
}

ssize_t NonBlockingOutput::try_write(std::string_view text) const {
  if (!waits_) return ::write(fd_, text.data(), text.size());
  if (socket_) return send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (own_ >= 0) return ::write(own_, text.data(), text.size());
  errno = EAGAIN;
  return writable(fd_) ? ::write(fd_, text.data(), std::min(text.size(), kPolled)) : -1;
}

bool NonBlockingOutput::write_rest() {
  std::string_view left = rest_;
  while (!left.empty()) {
    const ssize_t n = try_write(left);
    if (n > 0) left.remove_prefix(static_cast<size_t>(n));
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    if (n < 0 && errno != EAGAIN) left = {};  // EPIPE: its reader has gone
    break;
  }
  rest_.erase(0, rest_.size() - left.size());
  return rest_.empty();
}

bool NonBlockingOutput::write(std::string_view text) {
  bool taken = write_rest();
  if (taken) {
    rest_ = text;
    write_rest();
    taken = rest_.size() < text.size() || text.empty();
    if (!taken) rest_.clear();
  }
  left_out_ += taken ? 0 : 1;
  return taken;
}

}  // namespace turnpike::metrics
