// SPDX-License-Identifier: BSD-3-Clause
// A folder for the runs of one process, which others can tell from one whose process was killed.
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

namespace turnpike::lab {

/// Holds a lock (flock) in the folder while it exists, which ends with the process however that
/// ends. Machines that share the folder see the lock where their file system keeps locks for all,
/// as NFS does.
class RunFolder {
 public:
  /// Makes a folder in `parent`, after removing those of processes that have ended. The error: the
  /// folder cannot be made or locked.
  static tl::expected<std::unique_ptr<RunFolder>, std::string> make(const std::string& parent);
  /// Removes the folder.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  RunFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;
};

}  // namespace turnpike::lab
