// SPDX-License-Identifier: BSD-3-Clause
// Writes to standard output or error without waiting for who reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace turnpike::metrics {

/// A terminal that is stopped (Ctrl-S), a pager or a stalled ssh session takes no output, for any
/// length of time. A thread that has other work writes through this. Not for several threads.
class NonBlockingOutput {
 public:
  /// Writes to a descriptor, which stays open and as it is: other processes share its flags.
  explicit NonBlockingOutput(int fd);
  ~NonBlockingOutput();
  NonBlockingOutput(const NonBlockingOutput&) = delete;
  NonBlockingOutput& operator=(const NonBlockingOutput&) = delete;

  /// Writes a text whole: what the reader does not take at once precedes the next text. False: it
  /// has not yet taken the texts before; this one is left out and counted. Errors, such as a reader
  /// that has gone or a full disk, end a text without a count.
  bool write(std::string_view text);
  /// Texts that were left out.
  [[nodiscard]] uint64_t left_out() const { return left_out_; }

 private:
  [[nodiscard]] ssize_t try_write(std::string_view text) const;
  bool write_rest();

  int fd_, own_ = -1;  // own_: the same file, opened again without blocking; -1: it cannot be
  bool waits_ = false, socket_ = false;  // waits_: a write may have to wait for a reader
  std::string rest_;                     // of a text whose begin is written
  uint64_t left_out_ = 0;
};

}  // namespace turnpike::metrics
