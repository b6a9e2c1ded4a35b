// SPDX-License-Identifier: BSD-3-Clause
// A folder for the results of one process at a time.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace turnpike::lab {

/// Keeps other processes from writing their results into a folder (flock) while it exists. The lock
/// ends with the process however that ends.
class FolderLock {
 public:
  /// Prepares the folder (report::prepare_folder()) and locks it. The error says why the folder
  /// cannot be written to, or that another process writes its results there. Where the file system
  /// has no locks, the folder is only prepared.
  static tl::expected<FolderLock, std::string> take(const std::string& folder);

  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}

  int fd_;  // of the folder, or -1
};

}  // namespace turnpike::lab
