// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor that closes itself.
#pragma once

#include <utility>

#include <unistd.h>

namespace turnpike::router {

class File {
 public:
  File() = default;
  /// Takes ownership; negative: no file.
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~File() {
    if (fd_ >= 0) close(fd_);
  }

  [[nodiscard]] int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace turnpike::router
