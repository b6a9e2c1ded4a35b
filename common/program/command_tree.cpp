// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/command_tree.h"

#include <CLI/CLI.hpp>

namespace turnpike {
namespace {

/// CLI11 describes an option's values as NAME:CHECK:CHECK, with a set of words as {a,b}.
void read_type(const std::string& type, CommandArgument& out) {
  const size_t colon = type.find(':');
  if (out.value.empty()) out.value = type.substr(0, colon);
  if (colon == std::string::npos) return;
  const std::string check = type.substr(colon + 1);
  if (check.front() == '{' && check.back() == '}') {
    out.words = CLI::detail::split(check.substr(1, check.size() - 2), ',');
  } else {
    out.bounds = check;
  }
}

CommandArgument read(const CLI::Option& option) {
  CommandArgument a;
  for (const std::string& name : option.get_snames()) a.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) a.names.push_back("--" + name);
  a.help = option.get_description();
  a.required = option.get_required();
  a.repeated = option.get_items_expected_max() > 1;
  if (a.names.empty()) a.value = option.get_name(true);
  if (option.get_type_size() != 0) read_type(option.get_type_name(), a);
  return a;
}

CommandNode read(const CLI::App& app, const std::string& before) {
  CommandNode c;
  c.path = before + app.get_name();
  for (const char k : "_" + c.path) c.function += k == ' ' || k == '-' ? '_' : k;
  c.help = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    CommandArgument a = read(*option);
    (a.names.empty() ? c.positionals : c.options).push_back(std::move(a));
  }
  for (const CLI::App* verb : app.get_subcommands({}))
    c.commands.push_back(read(*verb, c.path + " "));
  return c;
}

}  // namespace

CommandNode read_command(const CLI::App& app) { return read(app, ""); }

}  // namespace turnpike
