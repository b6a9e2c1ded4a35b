// SPDX-License-Identifier: BSD-3-Clause
// The option --set of verbs that read a file.
#pragma once

#include <vector>

#include <CLI/CLI.hpp>

#include "common/config/load.h"

namespace turnpike::lab {

/// Adds --set PATH=VALUE, which may be repeated.
inline void add_settings(CLI::App& verb, std::vector<config::Setting>& out) {
  verb.add_option_function<std::vector<std::string>>(
          "--set",
          [&out](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              auto setting = config::parse_setting(text);
              if (!setting) throw CLI::ValidationError("--set", "'" + text + "' is not PATH=VALUE");
              out.push_back(std::move(*setting));
            }
          },
          "a value in place of the file's, such as links.bottleneck.rate='1 Gbps'; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
}

}  // namespace turnpike::lab
