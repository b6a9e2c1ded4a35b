// SPDX-License-Identifier: BSD-3-Clause
// Command-line options that router and sender share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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
  std::vector<std::string> nodes;  // to run; empty: the program's choice
  std::vector<unsigned> lcores;    // CPUs to run on; empty: chosen
  std::string live = "auto";       // auto, table, lines, json, off
  std::string idle = "auto";       // auto, poll, sleep
  std::string sandbox = "auto";    // auto, on, off
  std::string output;              // folder; empty: the file's
  Nanos wait = 30_s;               // for peers and links
  std::optional<Nanos> duration;
  bool hugepages = false;
  bool show_log = false;         // DPDK's messages
  std::vector<std::string> eal;  // after "--"
};

/// Whether idle lcores sleep: as the option says; by default, if the program has no NIC.
inline bool sleeps(const CommandLine& c, bool nics) {
  return c.idle == "sleep" || (c.idle == "auto" && !nics);
}

/// A program's name and texts on its command line.
struct ProgramFacts {
  std::string name;          // "turnpike-router"
  std::string description;   // a sentence
  std::string version_line;  // what --version prints
};

/// Reads argv into `out`; `own` adds the program's own options. Arguments after "--" go to EAL. The
/// error is the exit code, after help, a version or an error message has been printed.
tl::expected<void, int> parse_command_line(int argc, char** argv, const ProgramFacts& program,
                                           CommandLine& out,
                                           const std::function<void(CLI::App&)>& own);

/// An option that is a positive time with a unit, of at least `least`.
void add_time(CLI::App& app, const std::string& name, std::function<void(Nanos)> set,
              const std::string& help, Nanos least = 1_ns);

inline constexpr Nanos kShortestRun = 1_ms;  // as in files

/// --seed, as files take it.
void add_seed(CLI::App& app, std::optional<uint64_t>& seed);

/// Validates a number in [least, most]; unlike CLI::Range it refuses NaN.
std::string number_within(const std::string& text, double least, double most);

/// Whether an argument is empty, as an unset variable of a shell leaves it; says so. A program
/// would take it for an option that is not given.
bool has_empty_argument(std::span<char* const> arguments, const char* program);

}  // namespace turnpike
