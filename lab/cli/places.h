// SPDX-License-Identifier: BSD-3-Clause
// Options of verbs that run nodes on several machines.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "lab/machines/place.h"

namespace turnpike::lab {

/// Adds --on ssh:HOST=NODE,NODE, which may be repeated.
CLI::Option* add_places(CLI::App& verb, std::vector<Placement>& out);
/// Adds --ssh and --program.
void add_ssh(CLI::App& verb, std::string& ssh, std::string& program);
/// Adds --router-option and --sender-option, which may be repeated.
void add_program_options(CLI::App& verb, std::vector<std::string>& router,
                         std::vector<std::string>& sender);

/// The words of a command such as "ssh -p 2222".
std::vector<std::string> words_of(const std::string& text);

}  // namespace turnpike::lab
