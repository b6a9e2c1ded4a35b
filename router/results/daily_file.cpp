// SPDX-License-Identifier: BSD-3-Clause
#include "router/results/daily_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/report/whole_file.h"

namespace turnpike::router {
namespace {

constexpr int64_t kSecond = 1'000'000'000, kMillisecond = 1'000'000;  // ns
constexpr unsigned kMaxFiles = 99;                                    // of a day
constexpr size_t kDayLength = 10;                                     // of "2026-11-26"

std::string reason(const std::string& path, int error) {
  return path + ": " + std::strerror(error);
}

}  // namespace

std::string utc_text(int64_t unix_ns) {
  const time_t seconds = unix_ns / kSecond;
  tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 16> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ",
                static_cast<int>(unix_ns % kSecond / kMillisecond));
  return std::string(text.data(), length) + fraction.data();
}

tl::expected<DailyFile, std::string> DailyFile::open(const std::string& folder,
                                                     const std::string& name, std::string columns) {
  if (auto prepared = report::prepare_folder(folder); !prepared)
    return tl::unexpected(prepared.error());
  return DailyFile(folder + "/" + name + "-", std::move(columns) + "\n");
}

DailyFile::DailyFile(DailyFile&& other) noexcept
    : base_(std::move(other.base_)),
      columns_(std::move(other.columns_)),
      day_(std::move(other.day_)),
      path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      torn_(other.torn_),
      replaced_(other.replaced_) {}

DailyFile::~DailyFile() { close(); }

void DailyFile::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  torn_ = false;
  day_.clear();
}

tl::expected<void, std::string> DailyFile::append(std::string_view lines, int64_t unix_ns) {
  const std::string day = utc_text(unix_ns).substr(0, kDayLength);
  const bool gone = fd_ >= 0 && !in_place();
  if (gone) close();
  if (day != day_ && !torn_) {
    if (auto turned = turn_to(day); !turned) {
      close();
      return turned;
    }
  }
  if (const int error = write_whole(lines); error != 0) return tl::unexpected(reason(path_, error));
  replaced_ += gone;
  return {};
}

/// Whether the open file is still the one at its path: it may have been moved or removed.
bool DailyFile::in_place() const {
  struct stat open {};
  struct stat named {};
  return fstat(fd_, &open) == 0 && stat(path_.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

tl::expected<void, std::string> DailyFile::turn_to(const std::string& day) {
  for (unsigned n = 1; n <= kMaxFiles; ++n) {
    close();
    path_ = base_ + day + (n == 1 ? "" : "." + std::to_string(n)) + ".csv";
    const auto opened = open_file();
    if (!opened) return tl::unexpected(opened.error());
    if (!*opened) continue;
    day_ = day;
    return {};
  }
  return tl::unexpected(path_ + ": it has other columns, and so have the files before it");
}

tl::expected<bool, std::string> DailyFile::open_file() {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
  if (fd_ < 0) return tl::unexpected(reason(path_, errno));
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0)
    return tl::unexpected(path_ + ": another process writes this file");
  const auto size = cut_torn_line();
  if (!size) return tl::unexpected(reason(path_, size.error()));
  size_ = *size;
  if (size_ == 0) {
    const int error = write_whole(columns_);
    if (error != 0) return tl::unexpected(reason(path_, error));
    return true;
  }
  std::string found(columns_.size(), '\0');
  const ssize_t length = pread(fd_, found.data(), found.size(), 0);
  if (length < 0) return tl::unexpected(reason(path_, errno));
  return std::cmp_equal(length, columns_.size()) && found == columns_;
}

// A process that was killed within a write has left a part of its lines.
tl::expected<off_t, int> DailyFile::cut_torn_line() const {
  struct stat found {};
  if (fstat(fd_, &found) != 0) return tl::unexpected(errno);
  if (!S_ISREG(found.st_mode)) return tl::unexpected(EINVAL);
  off_t end = found.st_size;
  std::array<char, 4096> block{};
  while (end > 0) {
    const auto length = static_cast<size_t>(std::min<off_t>(end, block.size()));
    const off_t from = end - static_cast<off_t>(length);
    if (pread(fd_, block.data(), length, from) != static_cast<ssize_t>(length))
      return tl::unexpected(EIO);
    const size_t newline = std::string_view(block.data(), length).rfind('\n');
    if (newline != std::string_view::npos) {
      end = from + static_cast<off_t>(newline) + 1;
      break;
    }
    end = from;
  }
  if (end != found.st_size && ftruncate(fd_, end) != 0) return tl::unexpected(errno);
  return end;
}

// Returns 0, or an errno after which the file is as it was, or will be before the next lines.
int DailyFile::write_whole(std::string_view text) {
  if (torn_ && ftruncate(fd_, size_) != 0) return errno;
  torn_ = false;
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(fd_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      torn_ = done > 0 && ftruncate(fd_, size_) != 0;
      return error;
    }
    done += static_cast<size_t>(written);
  }
  size_ += static_cast<off_t>(done);
  return 0;
}

}  // namespace turnpike::router
