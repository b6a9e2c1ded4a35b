// SPDX-License-Identifier: BSD-3-Clause
#include "lab/batch/run_folder.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = "/lock";

/// Removes the folder of a process that has ended.
void remove_if_unlocked(const std::string& folder) {
  const int fd = open((folder + kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;  // it is being made, or is none of these
  std::error_code ignored;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, ignored);
  close(fd);
}

void remove_unlocked(const std::string& parent) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error))
    remove_if_unlocked(entry.path().string());
}

}  // namespace

tl::expected<std::unique_ptr<RunFolder>, std::string> RunFolder::make(const std::string& parent) {
  const auto failed = [&](const std::string& path) {
    return tl::unexpected(path + ": " + std::strerror(errno));
  };
  remove_unlocked(parent);
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"host"};
  std::string path = parent + "/" + host.data() + "-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return failed(path);
  // The lock file gets its name once it is locked: until then no other process looks at the folder.
  const std::string unlocked = path + "/new";
  const int fd = open(unlocked.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  std::unique_ptr<RunFolder> folder(new RunFolder(path, fd));
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 ||
      std::rename(unlocked.c_str(), (path + kLock).c_str()) != 0)
    return failed(path);
  return folder;
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace turnpike::lab
