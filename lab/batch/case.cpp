// SPDX-License-Identifier: BSD-3-Clause
#include "lab/batch/case.h"

#include <filesystem>

namespace turnpike::lab {

namespace fs = std::filesystem;

// One thread: as many of these commands run at a time as there are processors.
tl::expected<Command, std::string> command_for(const Case& c, const std::string& executable) {
  std::error_code error;
  fs::create_directories(c.folder, error);
  if (error) return tl::unexpected(c.folder + ": " + error.message());
  Command command{.name = "turnpike lab " + c.file,
                  .argv = {executable, "lab", c.file, "--seed", std::to_string(c.seed), "--out",
                           c.folder, "--json", "--threads", "1"},
                  .log = c.folder + "/lab.log"};
  for (const config::Setting& s : c.settings)
    command.argv.insert(command.argv.end(), {"--set", s.path + "=" + s.value});
  if (!c.count.empty()) command.argv.insert(command.argv.begin(), {c.counter, c.count, c.folder});
  return command;
}

std::string settings_text(const std::vector<config::Setting>& settings) {
  std::string out;
  for (const config::Setting& s : settings)
    out += (out.empty() ? "" : ", ") + s.path + "=" + s.value;
  return out;
}

std::string own_executable() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

}  // namespace turnpike::lab
