// SPDX-License-Identifier: BSD-3-Clause
// Landlock (landlock(7)): the files that a process may open, even as root.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace turnpike {

/// Rights below a folder, or to a file.
struct PathRule {
  enum class May : uint8_t {
    kRead,    // read files, list folders
    kWrite,   // also create, write, rename and remove files and folders, and create sockets; no
              // links, no devices
    kDevice,  // read, write and ioctl of an existing device
  };
  std::string path;
  May may = May::kRead;
};

/// Version of the kernel's Landlock: 1 is Linux 5.13; 0: none, because it is not built in or not
/// enabled.
int landlock_abi();

/// The version whose rules restrict this process; 0: none. The kernel does not tell:
/// set_landlock_in_force() notes it, after every thread has been restricted.
int landlock_in_force();
void set_landlock_in_force();

/// A set of rules, not yet applied.
class Landlock {
 public:
  /// Everything that the kernel's version can restrict is forbidden but for `rules`: files, TCP
  /// (version 4) and, unless `abstract_sockets`, connections to abstract Unix sockets of other
  /// processes (version 6). Paths that do not exist are left out. The error is the kernel's.
  static tl::expected<Landlock, std::string> make(std::span<const PathRule> rules,
                                                  bool abstract_sockets);

  Landlock(Landlock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Landlock& operator=(Landlock&&) = delete;
  ~Landlock();

  /// Applies the rules to the calling thread, for good, and to the threads that it starts. Needs
  /// no_new_privs. Returns 0 or an errno. Async-signal-safe.
  [[nodiscard]] int restrict_thread() const;

 private:
  explicit Landlock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace turnpike
