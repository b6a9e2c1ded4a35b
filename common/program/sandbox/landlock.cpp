// SPDX-License-Identifier: BSD-3-Clause
// Definitions of the kernel's interface are here, not from linux/landlock.h: Debian 12's header
// knows version 2 only, and a program compiled there may run on a newer kernel.
#include "common/program/sandbox/landlock.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace turnpike {
namespace {

constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;  // system calls
constexpr unsigned kAskVersion = 1;
constexpr unsigned kPathBeneath = 1;

struct RulesetAttributes {
  uint64_t handled_files = 0, handled_network = 0, scoped = 0;
};
struct [[gnu::packed]] PathBeneath {
  uint64_t allowed;
  int32_t parent;
};

enum Right : uint64_t {
  kWriteFile = 1 << 1,
  kReadFile = 1 << 2,
  kReadFolder = 1 << 3,
  kRemoveFolder = 1 << 4,
  kRemoveFile = 1 << 5,
  kMakeFolder = 1 << 7,
  kMakeFile = 1 << 8,
  kMakeSocket = 1 << 9,
  kVersion1 = (1 << 13) - 1,
  kRefer = 1 << 13,        // version 2: rename between folders
  kTruncate = 1 << 14,     // version 3
  kDeviceIoctl = 1 << 15,  // version 5
};
constexpr uint64_t kTcp = 3;             // version 4: bind and connect
constexpr uint64_t kAbstractSocket = 1;  // version 6
constexpr uint64_t kOfFiles = kWriteFile | kReadFile | kTruncate | kDeviceIoctl;

uint64_t known_rights(int abi) {
  uint64_t rights = kVersion1;
  if (abi >= 2) rights |= kRefer;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kDeviceIoctl;
  return rights;
}

uint64_t rights_of(PathRule::May may) {
  switch (may) {
    case PathRule::May::kRead:
      return kReadFile | kReadFolder;
    case PathRule::May::kWrite:
      return kReadFile | kReadFolder | kWriteFile | kTruncate | kRefer | kRemoveFolder |
             kRemoveFile | kMakeFolder | kMakeFile | kMakeSocket;
    case PathRule::May::kDevice:
      return kReadFile | kWriteFile | kDeviceIoctl;
  }
  return 0;
}

size_t size_for(int abi) {
  if (abi < 4) return offsetof(RulesetAttributes, handled_network);
  if (abi < 6) return offsetof(RulesetAttributes, scoped);
  return sizeof(RulesetAttributes);
}

/// 0 or an errno; a path that does not exist is no error.
int add(int ruleset, const PathRule& rule, uint64_t known) {
  const int fd = open(rule.path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT || errno == EACCES ? 0 : errno;
  struct stat status {};
  uint64_t rights = rights_of(rule.may) & known;
  if (fstat(fd, &status) == 0 && !S_ISDIR(status.st_mode)) rights &= kOfFiles;
  const PathBeneath beneath{.allowed = rights, .parent = fd};
  const int error = syscall(kAddRule, ruleset, kPathBeneath, &beneath, 0U) == 0 ? 0 : errno;
  close(fd);
  return error;
}

std::atomic<int> in_force{0};

}  // namespace

int landlock_in_force() { return in_force.load(); }
void set_landlock_in_force() { in_force.store(landlock_abi()); }

int landlock_abi() {
  const long version = syscall(kCreateRuleset, nullptr, size_t{0}, kAskVersion);
  return version < 0 ? 0 : static_cast<int>(version);
}

tl::expected<Landlock, std::string> Landlock::make(std::span<const PathRule> rules,
                                                   bool abstract_sockets) {
  const int abi = landlock_abi();
  RulesetAttributes attributes{.handled_files = known_rights(abi)};
  if (abi >= 4) attributes.handled_network = kTcp;
  if (abi >= 6 && !abstract_sockets) attributes.scoped = kAbstractSocket;
  const auto fd = static_cast<int>(syscall(kCreateRuleset, &attributes, size_for(abi), 0U));
  if (fd < 0) return tl::unexpected(std::string("Landlock: ") + std::strerror(errno));
  Landlock made(fd);
  for (const PathRule& rule : rules)
    if (const int error = add(fd, rule, attributes.handled_files); error != 0)
      return tl::unexpected("Landlock: " + rule.path + ": " + std::strerror(error));
  return made;
}

Landlock::~Landlock() {
  if (fd_ >= 0) close(fd_);
}

int Landlock::restrict_thread() const { return syscall(kRestrictSelf, fd_, 0U) == 0 ? 0 : errno; }

}  // namespace turnpike
