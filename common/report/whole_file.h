// SPDX-License-Identifier: BSD-3-Clause
// Result files that are whole or not there, and the folder that they go to.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace turnpike::report {

/// Creates the folder, where there is none, and writes a file there for a moment, so that a full
/// disk or a read-only folder is found before a run. The error says why it cannot be written to.
tl::expected<void, std::string> prepare_folder(const std::string& folder);

/// Removes what an earlier run left under these names, so that it is not taken for this one's.
void remove_results(const std::string& folder, std::initializer_list<const char*> names);

/// A file that is written under its name with ".part" behind it, and has its name once it is whole.
/// A link of either name is replaced, not followed. Devices and pipes are written to as they are.
class WholeFile {
 public:
  static tl::expected<WholeFile, std::string> open(const std::string& path);

  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;
  /// Without finish() nothing is left.
  ~WholeFile();

  /// An error shows in finish().
  void write(std::string_view text);
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

/// Writes a whole file, or says why not.
tl::expected<void, std::string> write_text(const std::string& path, const std::string& text);

}  // namespace turnpike::report
