// SPDX-License-Identifier: BSD-3-Clause
// Result files that are either complete or absent, and their folder.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace turnpike::report {

/// Creates the folder if necessary and tests it with a temporary file, so that a full disk or a
/// read-only folder is found before a run. The error says why it cannot be written to.
tl::expected<void, std::string> prepare_folder(const std::string& folder);

/// Removes an earlier run's files of these names, which could be mistaken for this run's.
void remove_results(const std::string& folder, std::initializer_list<const char*> names);

/// A file that is written as NAME.part and renamed to NAME when it is complete. Symbolic links of
/// either name are replaced, not followed. Devices and pipes are written directly.
class WholeFile {
 public:
  /// Creates `path`.part, or opens a device or pipe. The error has the path and the reason.
  static tl::expected<WholeFile, std::string> open(const std::string& path);

  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;
  /// Removes the file unless finish() was called.
  ~WholeFile();

  /// Errors are reported by finish().
  void write(std::string_view text);
  /// Completes and renames the file. The error is that of the first step that failed, after which
  /// no file is left.
  tl::expected<void, std::string> finish();

 private:
  WholeFile(std::string path, int fd, bool renames)
      : path_(std::move(path)), fd_(fd), renames_(renames) {}
  void flush();

  std::string path_;
  int fd_;
  bool renames_;
  int error_ = 0;  // errno of the first write that failed
  std::string buffer_;
};

/// Writes a whole file. The error is the reason why it could not be written.
tl::expected<void, std::string> write_text(const std::string& path, const std::string& text);

}  // namespace turnpike::report
