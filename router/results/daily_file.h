// SPDX-License-Identifier: BSD-3-Clause
// Lines of CSV that outlive the program that writes them, in a file for each day.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>
#include <tl/expected.hpp>

namespace turnpike::router {

/// Appends to FOLDER/NAME-YYYY-MM-DD.csv, UTC, or if that has other columns, because another
/// version has written it, to NAME-YYYY-MM-DD.2.csv and so on. A line is in the file whole or not
/// at all: what an earlier process left of one is cut off. Lines that append() has written outlive
/// the process; after a power failure those may be missing that the kernel had not stored yet. One
/// process writes a file at a time.
class DailyFile {
 public:
  /// Makes the folder if necessary. `columns`: the header line of a new file, without newline. The
  /// error says why the folder cannot be written to.
  static tl::expected<DailyFile, std::string> open(const std::string& folder,
                                                   const std::string& name, std::string columns);
  DailyFile(DailyFile&& other) noexcept;
  DailyFile& operator=(DailyFile&&) = delete;
  ~DailyFile();

  /// Appends whole lines to the file of the day that `unix_ns` is in. After an error, which has the
  /// path and the reason, none of them is in the file.
  tl::expected<void, std::string> append(std::string_view lines, int64_t unix_ns);
  /// How often append() found that the file had been moved or removed, and began another.
  [[nodiscard]] unsigned replaced() const { return replaced_; }
  /// Of the file that append() wrote last.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  DailyFile(std::string base, std::string columns)
      : base_(std::move(base)), columns_(std::move(columns)) {}
  tl::expected<void, std::string> turn_to(const std::string& day);
  /// Opens `path_`. False: it has other columns.
  tl::expected<bool, std::string> open_file();
  [[nodiscard]] tl::expected<off_t, int> cut_torn_line() const;
  [[nodiscard]] bool in_place() const;
  int write_whole(std::string_view text);
  void close();

  std::string base_;  // path up to the day
  std::string columns_;
  std::string day_, path_;  // of the open file
  int fd_ = -1;
  off_t size_ = 0;     // B of whole lines
  bool torn_ = false;  // the file has more than those: to be cut
  unsigned replaced_ = 0;
};

/// "2026-11-26T09:30:00.250Z" (RFC 3339).
std::string utc_text(int64_t unix_ns);

}  // namespace turnpike::router
