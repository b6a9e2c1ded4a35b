// SPDX-License-Identifier: BSD-3-Clause
// Manual page and shell completion of a program, from the same CLI::App that prints its --help.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace turnpike {

/// The manual page in roff (man(7)), section 1. `version` is in its footer: "turnpike 0.2.0".
std::string man_page(const CLI::App& app, std::string_view version);

/// A bash script that completes subcommands, options, option values, files and folders.
std::string bash_completion(const CLI::App& app);

/// The same for zsh: a function to load from $fpath as "_NAME".
std::string zsh_completion(const CLI::App& app);

/// Adds --version, which prints `version_line`, and --generate man|bash|zsh, which prints one of
/// the texts above and is hidden from all of them.
void add_page_options(CLI::App& app, const std::string& version_line);

}  // namespace turnpike
