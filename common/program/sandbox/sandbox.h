// SPDX-License-Identifier: BSD-3-Clause
// Gives up the privileges that a program no longer needs once its ports are open: capabilities, new
// privileges by exec(), system calls (seccomp), files and TCP (Landlock). Nothing of it costs time
// per packet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/program/sandbox/needs.h"

namespace turnpike {

struct SandboxOptions {
  std::string mode =
      "auto";  // auto: all that the kernel has; on: all, or the program does not run; off
  SandboxNeeds needs = {};
  std::string topology = {};  // file that may be read again, with the others of its folder
  std::vector<std::string> readable = {};  // likewise
  std::vector<std::string> writable = {};  // folders to write to, which exist
};

/// Call after the ports are open and the files of the run, and before the first packet. All threads
/// of the process are restricted, for good. Returns a line for the log: the restrictions, and what
/// of them this kernel lacks. The error, only in mode "on": the restriction that is impossible.
tl::expected<std::string, std::string> enter_sandbox(const SandboxOptions& options);

/// Present rights of this process.
struct Privileges {
  Capabilities capabilities = 0;   // effective, of any of its threads
  Capabilities bounding = 0;       // of any of its threads
  bool no_new_privileges = false;  // on all of its threads
  bool filtered = false;           // system calls, on all of its threads
  int landlock = 0;                // version in force; 0: none
  uint64_t refused = 0;            // system calls that the filter refused
};
Privileges privileges();

/// A line for each of them, for `turnpike doctor` and `show`.
std::vector<std::string> privileges_text(const Privileges& p);

}  // namespace turnpike
