// SPDX-License-Identifier: BSD-3-Clause
// The manual page, in roff's man(7) macros.
#include <cctype>

#include <CLI/CLI.hpp>

#include "common/program/command_pages.h"
#include "common/program/command_tree.h"

namespace turnpike {
namespace {

/// Escapes a line of text: a dot or an apostrophe at its beginning would be a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}
std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string usage(const CommandNode& c) {
  std::string out = bold(c.path);
  if (!c.options.empty()) out += " [" + italic("OPTION") + "]...";
  if (!c.commands.empty()) return out + " " + italic("COMMAND") + " ...";
  for (const CommandArgument& a : c.positionals) {
    const std::string name = italic(a.value) + (a.repeated ? "..." : "");
    out += a.required ? " " + name : " [" + name + "]";
  }
  return out;
}

std::string item(const CommandArgument& a) {
  std::vector<std::string> names;
  for (const std::string& name : a.names) names.push_back(bold(name));
  std::string out = ".TP\n" + joined(names, ", ");
  if (!a.value.empty()) {
    const std::string value = a.words.empty() ? italic(a.value) : roff(joined(a.words, "|"));
    out += (names.empty() ? "" : " ") + value;
  }
  return out + "\n" + roff(a.help) + (a.bounds.empty() ? "" : " (" + roff(a.bounds) + ")") + "\n";
}

std::string items(const CommandNode& c) {
  std::string out;
  for (const CommandArgument& a : c.positionals) out += item(a);
  for (const CommandArgument& a : c.options) out += item(a);
  return out;
}

/// A paragraph for each line of "Head: text".
std::string notes(const std::string& footer) {
  std::string out;
  for (const std::string& line : CLI::detail::split(footer, '\n')) {
    const size_t colon = line.find(": ");
    out += ".PP\n";
    if (colon == std::string::npos) {
      out += roff(line) + "\n";
    } else {
      out += bold(line.substr(0, colon + 1)) + roff(line.substr(colon + 1)) + "\n";
    }
  }
  return out;
}

}  // namespace

std::string man_page(const CLI::App& app, std::string_view version) {
  const CommandNode all = read_command(app);
  std::string title;
  for (const char c : all.path) title += static_cast<char>(std::toupper(c));
  std::string out = ".\\\" Made by `" + all.path + " --generate man`.\n.TH " + title +
                    " 1 \"\" \"" + std::string(version) + "\" \"User Commands\"\n";
  out += ".SH NAME\n" + roff(all.path) + " \\- " + roff(all.help) + "\n";
  out += ".SH SYNOPSIS\n" + usage(all) + "\n.SH OPTIONS\n" + items(all);
  if (!all.commands.empty()) {
    out += ".SH COMMANDS\n";
    visit(all, [&](const CommandNode& c) {
      if (&c != &all) out += ".SS " + usage(c) + "\n" + roff(c.help) + "\n" + items(c);
    });
  }
  return out + ".SH NOTES\n" + notes(app.get_footer());
}

}  // namespace turnpike
