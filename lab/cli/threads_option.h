// SPDX-License-Identifier: BSD-3-Clause
// The option --threads of verbs that work on several threads of one process.
#pragma once

#include <algorithm>
#include <string>

#include <CLI/CLI.hpp>

#include "lab/batch/jobs.h"

namespace turnpike::lab {

/// Adds --threads N and sets `out` to its default. `what`: the verb's work.
inline void add_threads(CLI::App& verb, unsigned& out, const std::string& what) {
  constexpr unsigned kMaxThreads = 64;
  out = std::min(processors(), kMaxThreads);
  verb.add_option("--threads", out,
                  what +
                      " on as many threads, which changes no result (default: one for each "
                      "processor)")
      ->type_name("N")
      ->check(CLI::Range(1U, kMaxThreads));
}

}  // namespace turnpike::lab
