// SPDX-License-Identifier: BSD-3-Clause
#include "lab/folder_lock.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/report/whole_file.h"

namespace turnpike::lab {

tl::expected<FolderLock, std::string> FolderLock::take(const std::string& folder) {
  if (auto prepared = report::prepare_folder(folder); !prepared)
    return tl::unexpected(prepared.error());
  FolderLock lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.fd_ >= 0 && flock(lock.fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return tl::unexpected(folder +
                          ": another run writes its results there; --out names another folder");
  return lock;
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace turnpike::lab
