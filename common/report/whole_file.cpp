// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/whole_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace turnpike::report {
namespace {

constexpr size_t kBuffer = size_t{64} << 10;  // B held back before they are written
constexpr mode_t kMode = 0666;                // less the umask

std::string part_of(const std::string& path) { return path + ".part"; }

tl::unexpected<std::string> failed(const std::string& path, int error) {
  return tl::unexpected(
      "cannot write " + path + ": " +
      (error == EBUSY ? "another process writes it; choose another folder" : std::strerror(error)));
}

/// Whether the path is a device, a pipe or a descriptor, which a rename must not replace.
bool written_in_place(const std::string& path) {
  struct stat status {};
  if (path.starts_with("/dev/") || path.starts_with("/proc/")) return true;
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/// Whether another process holds the lock of the file; an end of that process ends it.
bool locked(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  const bool held = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return held;
}

/// Makes and locks a file. -1: errno says why, EBUSY that another process writes it.
int open_new(const std::string& path) {
  if (locked(path)) {
    errno = EBUSY;
    return -1;
  }
  unlink(path.c_str());  // left by a killed run
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
  if (fd >= 0) flock(fd, LOCK_EX | LOCK_NB);  // where the file system has locks
  return fd;
}

}  // namespace

tl::expected<void, std::string> prepare_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return tl::unexpected("cannot create " + folder + ": " + error.message());
  const std::string path = folder + "/.turnpike-" + std::to_string(getpid());
  auto probe = WholeFile::open(path);
  if (!probe) return failed(folder, errno);
  probe->write(std::string(kBuffer, ' '));
  if (!probe->finish()) return failed(folder, errno);
  unlink(path.c_str());
  return {};
}

void remove_results(const std::string& folder, std::initializer_list<const char*> names) {
  for (const char* name : names) unlink((folder + "/" + name).c_str());
}

tl::expected<WholeFile, std::string> WholeFile::open(const std::string& path) {
  const bool renames = !written_in_place(path);
  const int fd = renames ? open_new(part_of(path))
                         : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (fd < 0) return failed(path, errno);
  return WholeFile(path, fd, renames);
}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      renames_(other.renames_),
      error_(other.error_),
      buffer_(std::move(other.buffer_)) {}

WholeFile::~WholeFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (renames_) unlink(part_of(path_).c_str());
}

void WholeFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBuffer) flush();
}

void WholeFile::flush() {
  std::string_view left = buffer_;
  while (!left.empty() && error_ == 0) {
    const ssize_t n = ::write(fd_, left.data(), left.size());
    if (n >= 0)
      left.remove_prefix(static_cast<size_t>(n));
    else if (errno != EINTR)
      error_ = errno;
  }
  buffer_.clear();
}

tl::expected<void, std::string> WholeFile::finish() {
  flush();
  if (close(std::exchange(fd_, -1)) != 0 && error_ == 0) error_ = errno;
  if (renames_ && error_ == 0 && rename(part_of(path_).c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ == 0) return {};
  if (renames_) unlink(part_of(path_).c_str());
  errno = error_;
  return failed(path_, error_);
}

tl::expected<void, std::string> write_text(const std::string& path, const std::string& text) {
  auto file = WholeFile::open(path);
  if (!file) return tl::unexpected(file.error());
  file->write(text);
  return file->finish();
}

}  // namespace turnpike::report
