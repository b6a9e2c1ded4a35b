// SPDX-License-Identifier: BSD-3-Clause
// Lines from a descriptor that does not block.
#pragma once

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace turnpike::lab {

class LineReader {
 public:
  /// `fd`: with O_NONBLOCK; stays the caller's.
  explicit LineReader(int fd) : fd_(fd) {}

  /// The complete lines that can be had without waiting. At the end of the input a last line counts
  /// without its newline.
  std::vector<std::string> take() {
    std::vector<std::string> lines;
    char buffer[65536];
    while (!ended_) {
      const ssize_t n = ::read(fd_, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) break;  // nothing more for now
      if (n <= 0) {
        ended_ = true;
        if (!partial_.empty()) lines.push_back(std::exchange(partial_, ""));
        break;
      }
      add({buffer, static_cast<size_t>(n)}, lines);
    }
    return lines;
  }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  static constexpr size_t kMaxLine = 1 << 20;  // B; more without an end is thrown away

  void add(std::string_view text, std::vector<std::string>& lines) {
    while (!text.empty()) {
      const size_t length = text.find('\n');
      partial_ += text.substr(0, std::min(length, kMaxLine - partial_.size()));
      if (length == std::string_view::npos) return;
      lines.push_back(std::exchange(partial_, ""));
      text.remove_prefix(length + 1);
    }
  }

  int fd_;
  bool ended_ = false;
  std::string partial_;  // of a line whose end has not come
};

}  // namespace turnpike::lab
