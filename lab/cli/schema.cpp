// SPDX-License-Identifier: BSD-3-Clause
// `turnpike schema > configs/turnpike.schema.json`.
#include "common/config/schema.h"

#include <cstdio>

#include "lab/cli/verbs.h"

namespace turnpike::lab {

void add_schema(CLI::App& app, ExitCode&) {
  app.add_subcommand("schema", "print the JSON Schema of topology files")->callback([] {
    std::fputs(config::schema_text().c_str(), stdout);
  });
}

}  // namespace turnpike::lab
