// SPDX-License-Identifier: BSD-3-Clause
#include "common/units/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace turnpike {
namespace {

const char* other_kind(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return nullptr;
    case S_IFDIR:
      return "it is a directory";
    case S_IFIFO:
      return "it is a FIFO";
    case S_IFSOCK:
      return "it is a socket";
    default:
      return "it is a device";
  }
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string why_unreadable(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::strerror(errno);
  if (const char* kind = other_kind(info.st_mode)) return kind;
  return access(path.c_str(), R_OK) == 0 ? std::string() : std::strerror(errno);
}

tl::expected<std::string, std::string> read_input_file(const std::string& path, size_t most_bytes) {
  const auto refused = [](const char* why) { return tl::unexpected(std::string(why)); };
  // Opening a device may have side effects, so check first; a swap in between is detected after
  // opening.
  if (std::string why = why_unreadable(path); !why.empty()) return tl::unexpected(std::move(why));
  struct stat info {};
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0 || fstat(file.get(), &info) != 0) return refused(std::strerror(errno));
  if (const char* kind = other_kind(info.st_mode)) return refused(kind);
  const auto size = static_cast<size_t>(info.st_size);
  const std::string too_large = "it is larger than " + std::to_string(most_bytes) + " bytes";
  if (size > most_bytes) return tl::unexpected(too_large);

  // Files of /proc and /sys have size 0, and others may grow.
  std::string text;
  constexpr size_t kStep = 64 << 10;
  for (size_t filled = 0;;) {
    text.resize(std::max(size + 1, filled + kStep));
    const ssize_t n = read(file.get(), text.data() + filled, text.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refused(std::strerror(errno));
    filled += static_cast<size_t>(n);
    if (filled > most_bytes) return tl::unexpected(too_large);
    if (n > 0) continue;
    text.resize(filled);
    return text;
  }
}

}  // namespace turnpike
