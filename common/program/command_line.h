// SPDX-License-Identifier: BSD-3-Clause
// What the command lines of the programs that play a topology have in common.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/units/units.h"

namespace CLI {
class App;
}

namespace turnpike {

struct CommandLine {
  std::string file;                // the topology
  std::vector<std::string> nodes;  // to play; none: the program's choice
  std::vector<unsigned> lcores;    // CPUs to play them on; none: chosen
  std::string live = "auto";       // auto, table, lines, json, off
  std::string idle = "auto";       // auto, poll, sleep
  std::string output;              // folder; empty: the file's
  Nanos wait = 30_s;               // for peers and links to come up
  std::optional<Nanos> duration;
  bool hugepages = false;
  bool show_log = false;         // DPDK's messages
  std::vector<std::string> eal;  // behind "--"
};

/// Whether idle lcores sleep: as asked for, or where no NIC wants them awake.
inline bool sleeps(const CommandLine& c, bool nics) {
  return c.idle == "sleep" || (c.idle == "auto" && !nics);
}

/// A program as its command line presents it.
struct ProgramFacts {
  std::string name;          // "turnpike-router"
  std::string description;   // a sentence
  std::string version_line;  // what --version prints
};

/// Reads argv into `out`; `own` adds the options that only this program has. What follows "--" is
/// EAL's. Nothing on success; the exit code after help, a version or an error has been printed.
tl::expected<void, int> parse_command_line(int argc, char** argv, const ProgramFacts& program,
                                           CommandLine& out,
                                           const std::function<void(CLI::App&)>& own);

/// An option that is a positive time with its unit.
void add_time(CLI::App& app, const std::string& name, std::function<void(Nanos)> set,
              const std::string& help);

}  // namespace turnpike
