// SPDX-License-Identifier: BSD-3-Clause
// Reads them from /proc, thread by thread: a restriction counts if it holds on all of them.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/program/sandbox/landlock.h"
#include "common/program/sandbox/sandbox.h"

namespace turnpike {
namespace {

void read_thread(const std::filesystem::path& folder, Privileges& p) {
  std::ifstream in(folder / "status");
  const auto number = [](const std::string& line, int base) {
    return std::strtoull(line.c_str() + line.find(':') + 1, nullptr, base);
  };
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("CapEff:")) p.capabilities |= number(line, 16);
    if (line.starts_with("CapBnd:")) p.bounding |= number(line, 16);
    if (line.starts_with("NoNewPrivs:")) p.no_new_privileges &= number(line, 10) == 1;
    if (line.starts_with("Seccomp:")) p.filtered &= number(line, 10) == 2;
  }
}

}  // namespace

Privileges privileges() {
  Privileges p{.no_new_privileges = true, .filtered = true};
  std::error_code error;
  bool any = false;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    read_thread(thread.path(), p);
    any = true;
  }
  if (!any) p = {};
  p.landlock = landlock_in_force();
  p.refused = refused_syscalls();
  return p;
}

std::vector<std::string> privileges_text(const Privileges& p) {
  return {"capabilities: " + capabilities_text(p.capabilities) +
              " (bounding set: " + capabilities_text(p.bounding) + ")",
          std::string("new privileges by exec: ") + (p.no_new_privileges ? "never" : "possible"),
          "system calls: " +
              (p.filtered ? "filtered, " + std::to_string(p.refused) + " refused" : "all"),
          "files: " + (p.landlock > 0 ? "those of Landlock's rules (version " +
                                            std::to_string(p.landlock) + ")"
                                      : std::string("all that the user may open"))};
}

}  // namespace turnpike
