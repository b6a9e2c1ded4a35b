// SPDX-License-Identifier: BSD-3-Clause
// A program's command line as data, for its manual page and its completions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace turnpike {

/// An option or a positional argument.
struct CommandArgument {
  std::vector<std::string> names;  // with their dashes; none: positional
  std::string value;               // its name, such as TIME; empty: a flag
  std::vector<std::string> words;  // the allowed values; empty: any
  std::string bounds;              // such as "INT in [1 - 1024]"
  std::string help;
  bool required = false;
  bool repeated = false;
};

/// An app or one of its subcommands, at any depth.
struct CommandNode {
  std::string path;      // "turnpike bench throughput"
  std::string function;  // of its completion: "_turnpike_bench_throughput"
  std::string help;
  std::vector<CommandArgument> options, positionals;
  std::vector<CommandNode> commands;
};

/// Reads an app, which must have a name, and its subcommands. Omits options and subcommands without
/// a group, as --help does.
CommandNode read_command(const CLI::App& app);

/// Calls `f` for the command and all commands below it.
inline void visit(const CommandNode& c, const std::function<void(const CommandNode&)>& f) {
  f(c);
  for (const CommandNode& below : c.commands) visit(below, f);
}

inline std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : std::string(between)) + w;
  return out;
}

}  // namespace turnpike
