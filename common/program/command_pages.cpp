// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/command_pages.h"

#include <CLI/CLI.hpp>

namespace turnpike {

void add_page_options(CLI::App& app, const std::string& version_line) {
  app.set_version_flag("--version", version_line, "Print versions and exit");
  const auto print = [&app, version_line](const std::string& what) {
    const std::string version = version_line.substr(0, version_line.find(" ("));
    std::string text = what == "man"    ? man_page(app, version)
                       : what == "bash" ? bash_completion(app)
                                        : zsh_completion(app);
    text.pop_back();                     // CLI11 ends the line
    throw CLI::CallForVersion(text, 0);  // caught by the parser's caller, which prints it
  };
  app.add_option_function<std::string>("--generate", print)
      ->check(CLI::IsMember({"man", "bash", "zsh"}))
      ->group("")
      ->trigger_on_parse();
}

}  // namespace turnpike
