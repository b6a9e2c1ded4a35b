// SPDX-License-Identifier: BSD-3-Clause
// Completion of a command line in bash and zsh.
#include "common/program/command_pages.h"
#include "common/program/command_tree.h"

namespace turnpike {
namespace {

/// Names of arguments and of values for which shells complete files and folders.
constexpr std::string_view kFile = "FILE", kFolder = "DIR";

std::string replaced(std::string_view text, char what, std::string_view with) {
  std::string out;
  for (const char c : text) c == what ? out.append(with) : out.append(1, c);
  return out;
}

/// In single quotes.
std::string in_quotes(std::string_view text) { return "'" + replaced(text, '\'', "'\\''") + "'"; }

std::vector<std::string> names_of(const std::vector<CommandArgument>& options) {
  std::vector<std::string> out;
  for (const CommandArgument& a : options) out.insert(out.end(), a.names.begin(), a.names.end());
  return out;
}

/// The assignment by which bash offers values of the argument; empty: values unknown.
std::string bash_values(const CommandArgument& a) {
  if (!a.words.empty()) return "words=" + in_quotes(joined(a.words, " "));
  if (a.value == kFile) return "kind=file";
  if (a.value == kFolder) return "kind=directory";
  return "";
}

/// zsh's action that completes a value of the argument.
std::string zsh_values(const CommandArgument& a) {
  if (!a.words.empty()) return "(" + joined(a.words, " ") + ")";
  if (a.value == kFile) return "_files";
  if (a.value == kFolder) return "_files -/";
  return " ";
}

std::string zsh_option(const CommandArgument& a, const std::string& name) {
  std::string spec = a.repeated ? "*" : "(" + joined(a.names, " ") + ")";
  spec += name;
  if (!a.value.empty() && name.starts_with("--")) spec += '=';
  spec += "[" + replaced(replaced(a.help, '[', "\\["), ']', "\\]") + "]";
  if (!a.value.empty()) spec += ":" + replaced(a.value, ':', "\\:") + ":" + zsh_values(a);
  return " \\\n    " + in_quotes(spec);
}

std::string zsh_function(const CommandNode& c) {
  std::string out = c.function + "() {\n  local curcontext=\"$curcontext\" state line\n";
  if (!c.commands.empty()) {
    out += "  local -a commands=(\n";
    for (const CommandNode& below : c.commands) {
      const std::string name = below.path.substr(c.path.size() + 1);
      out += "    " + in_quotes(name + ":" + replaced(below.help, ':', "\\:")) + "\n";
    }
    out += "  )\n";
  }
  out += "  _arguments -C";
  for (const CommandArgument& a : c.options)
    for (const std::string& name : a.names) out += zsh_option(a, name);
  for (const CommandArgument& a : c.positionals)
    out += " \\\n    " + in_quotes((a.repeated ? "*:" : "1:") + a.value + ":" + zsh_values(a));
  if (c.commands.empty()) return out + "\n}\n\n";
  out += " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n";
  out += "  case $state in\n    command) _describe command commands ;;\n    argument)\n";
  out += "      case $line[1] in\n";
  for (const CommandNode& below : c.commands)
    out += "        " + below.path.substr(c.path.size() + 1) + ") " + below.function + " ;;\n";
  return out + "      esac ;;\n  esac\n}\n\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const CommandNode all = read_command(app);
  std::string descend, values, lists;
  visit(all, [&](const CommandNode& c) {
    if (&c != &all) descend += (descend.empty() ? "" : " | ") + in_quotes(c.path);
    for (const CommandArgument& a : c.options) {
      if (a.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : a.names) patterns.push_back(in_quotes(c.path + " " + name));
      const std::string known = bash_values(a);
      values +=
          "    " + joined(patterns, " | ") + ") " + (known.empty() ? "return" : known) + " ;;\n";
    }
    std::vector<std::string> below;
    for (const CommandNode& verb : c.commands) below.push_back(verb.path.substr(c.path.size() + 1));
    std::string rest = below.empty() ? "" : "words=" + in_quotes(joined(below, " "));
    if (rest.empty() && !c.positionals.empty()) rest = bash_values(c.positionals.front());
    lists += "        " + in_quotes(c.path) + ")\n          if [[ $cur == -* ]]; then words=" +
             in_quotes(joined(names_of(c.options), " ")) + "; " +
             (rest.empty() ? "" : "else " + rest + "; ") + "fi ;;\n";
  });
  std::string loop = "    [[ ${COMP_WORDS[i]} == -- ]] && return\n";
  if (!descend.empty())
    loop += "    case \"$at ${COMP_WORDS[i]}\" in\n      " + descend +
            ") at+=\" ${COMP_WORDS[i]}\" ;;\n    esac\n";
  return "# bash completion of " + all.path + ", made by `" + all.path + " --generate bash`.\n" +
         all.function +
         "() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  local at=" +
         in_quotes(all.path) +
         " words='' kind='' i\n"
         "  COMPREPLY=()\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n" +
         loop +
         "  done\n"
         "  case \"$at $prev\" in\n" +
         values +
         "    *)\n"
         "      case $at in\n" +
         lists +
         "      esac ;;\n"
         "  esac\n"
         "  if [[ -n $kind ]]; then\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    mapfile -t COMPREPLY < <(compgen -A \"$kind\" -- \"$cur\")\n"
         "  elif [[ -n $words ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
         "  fi\n"
         "}\n"
         "complete -F " +
         all.function + " " + all.path + "\n";
}

std::string zsh_completion(const CLI::App& app) {
  const CommandNode all = read_command(app);
  std::string out = "#compdef " + all.path + "\n# zsh completion of " + all.path + ", made by `" +
                    all.path + " --generate zsh`.\n\n";
  visit(all, [&](const CommandNode& c) { out += zsh_function(c); });
  // When autoloaded, the file is the function's body; when sourced, it defines the function.
  return out + "if [[ $funcstack[1] == _" + all.path + " ]]; then\n  " + all.function +
         " \"$@\"\nelse\n  compdef " + all.function + " " + all.path + "\nfi\n";
}

}  // namespace turnpike
